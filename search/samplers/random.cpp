// Uniform over the valid points, without replacement: the baseline of every comparison.
#include "search/proposer.hpp"

namespace halmark {
namespace {

constexpr int draws_max = 64;

class Random : public Proposer {
 public:
  Random(const Space& space, const SamplerOptions& options) : Proposer("random", space, options) {}

 private:
  bool is_guarded(std::uint64_t) const override { return false; }
  std::optional<Point> propose(std::uint64_t trial, std::uint64_t attempt) override {
    Stream random = stream(trial, attempt);
    std::optional<Point> p;
    for (int draw = 0; draw < draws_max; ++draw) {
      p = uniform(random);
      if (!p || !history().knows(*p) || !space().is_countable()) return p;
    }
    // Nearly everything was proposed: the first that is left after a random place.
    const std::uint64_t size = space().size(), start = random.below(size);
    for (std::uint64_t i = 0; i < size && history().knows(*p); ++i) {
      p = space().point((start + i) % size);
    }
    return p;
  }
};

}  // namespace

std::unique_ptr<Sampler> make_random(const Space& space, const SamplerOptions& options) {
  return std::make_unique<Random>(space, options);
}

}  // namespace halmark
