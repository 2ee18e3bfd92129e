// Every valid point once, in a seeded low-discrepancy order: a grid that is cut off is still a fair
// sample of the space.
#include "core/text/error.hpp"
#include "search/proposer.hpp"

namespace halmark {
namespace {

class Grid : public Proposer {
 public:
  Grid(const Space& space, const SamplerOptions& options) : Proposer("grid", space, options) {
    if (!space.is_countable()) {
      throw refused("the grid of a space with a continuum or a very long range never ends", {},
                    "give the domain steps, or use the sampler sobol");
    }
  }

 private:
  bool is_guarded(std::uint64_t) const override { return false; }
  std::optional<Point> propose(std::uint64_t, std::uint64_t) override { return next_even(); }
};

}  // namespace

std::unique_ptr<Sampler> make_grid(const Space& space, const SamplerOptions& options) {
  return std::make_unique<Grid>(space, options);
}

}  // namespace halmark
