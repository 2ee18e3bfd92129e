// Quasi-random: Sobol points mapped to valid points by rank, not by rejection. Fills wide spaces
// evenly; the start of every sampler that learns.
#include "search/proposer.hpp"
#include "search/samplers/sobol_sequence.hpp"

namespace halmark {
namespace {

constexpr std::uint64_t misses_max = 4096;  // known or invalid points in a row

class Sobol : public Proposer {
 public:
  Sobol(const Space& space, const SamplerOptions& options)
      : Proposer("sobol", space, options), sequence_(space.domains().size(), options.seed) {}

 private:
  bool is_guarded(std::uint64_t) const override { return false; }
  std::optional<Point> propose(std::uint64_t, std::uint64_t) override {
    for (std::uint64_t miss = 0; miss < misses_max; ++miss, ++at_) {
      auto p = space().from_unit(sequence_.at(at_));
      effort_.spend();
      if (p && !history().knows(*p)) return p;
    }
    return std::nullopt;
  }

  SobolSequence sequence_;
  std::uint64_t at_ = 0;  // everything before it is known or invalid
};

}  // namespace

std::unique_ptr<Sampler> make_sobol(const Space& space, const SamplerOptions& options) {
  return std::make_unique<Sobol>(space, options);
}

}  // namespace halmark
