// Gaussian processes and expected hypervolume improvement: the fewest trials, where a trial costs
// more than the milliseconds that a proposal takes.
#include "search/proposer.hpp"
#include "search/samplers/sobol_sequence.hpp"
#include "search/surrogate/surrogate.hpp"

namespace halmark {
namespace {

constexpr std::uint64_t purpose_model = 0x69;

class Gp : public Proposer {
 public:
  Gp(const Space& space, const SamplerOptions& options)
      : Proposer("gp", space, options),
        sequence_(space.domains().size(), options.seed),
        start_(std::min<std::size_t>(2 * space.domains().size() + 2, 24)),
        surrogate_(history(), guard(), effort_, options.seed, {}) {}

 private:
  std::optional<Point> propose(std::uint64_t trial, std::uint64_t attempt) override {
    if (trial < start_) return space().from_unit(sequence_.at(trial + attempt));
    if (attempt > 0) return std::nullopt;
    Stream random = stream(trial, purpose_model);
    return surrogate_.propose(random);
  }
  void learn(std::size_t trial) override { surrogate_.learn(trial); }

  SobolSequence sequence_;
  std::size_t start_;
  Surrogate surrogate_;
};

}  // namespace

std::unique_ptr<Sampler> make_gp(const Space& space, const SamplerOptions& options) {
  return std::make_unique<Gp>(space, options);
}

}  // namespace halmark
