// Continuous relaxation: one category of everything is fixed as on a point of the front, the
// ordered parameters are let loose, and a random Chebyshev scalarisation of the models' means is
// minimised. The solution is only a seed: it is rounded, and where that was proposed before, its
// nearest new neighbour is.
#include <algorithm>

#include "core/lists.hpp"
#include "search/proposer.hpp"
#include "search/samplers/sobol_sequence.hpp"
#include "search/surrogate/minimise.hpp"
#include "search/surrogate/surrogate.hpp"

namespace halmark {
namespace {

constexpr std::size_t start_trials = 16;
constexpr int evaluations_max = 200;
constexpr double augmentation = 0.05;
constexpr std::uint64_t purpose_weights = 0x2107;

class Nlopt : public Proposer {
 public:
  Nlopt(const Space& space, const SamplerOptions& options)
      : Proposer("nlopt", space, options),
        sequence_(space.domains().size(), options.seed),
        surrogate_(history(), guard(), effort_, options.seed, {.observations_max = 150}) {}

 private:
  std::optional<Point> propose(std::uint64_t trial, std::uint64_t attempt) override {
    if (trial < start_trials || attempt > 0 || !surrogate_.prepare()) {
      return space().from_unit(sequence_.at(trial + attempt));
    }
    effort_.begin();
    Stream random = stream(trial, purpose_weights);
    const std::vector<std::size_t>& front = surrogate_.front();
    const Point base = history().trials()[front[random.below(front.size())]].point;
    std::vector<std::size_t> loose;
    std::vector<double> start;
    for (const auto d : indices(base)) {
      const SearchDomain& domain = space().domains()[d];
      if (base[d] == absent || !domain.has_order() || domain.levels() == 1) continue;
      loose.push_back(d);
      start.push_back(domain.unit(base[d]));
    }
    if (loose.empty()) return space().from_unit(sequence_.at(trial));
    const std::vector<double> weights = random_weights(random);
    std::vector<double> row;
    surrogate_.features().append(base, row);
    const auto scalarised = [&](std::span<const double> x) {
      effort_.spend();
      for (const auto i : indices(loose)) row[loose[i]] = x[i];
      const std::vector<double> means = surrogate_.scaled_means(row);
      double worst = -1e300, sum = 0;
      for (const auto m : indices(means)) {
        worst = std::max(worst, weights[m] * means[m]);
        sum += weights[m] * means[m];
      }
      return worst + augmentation * sum;
    };
    const std::vector<double> low(loose.size(), 0), high(loose.size(), 1);
    const Minimum solution = minimise(scalarised, low, high, start,
                                      {.evaluations_max = evaluations_max,
                                       .relative_tolerance = 1e-4,
                                       .starts = 0,
                                       .seed = options_.seed});
    Point out = base;
    for (const auto i : indices(loose)) {
      out[loose[i]] = space().domains()[loose[i]].from_unit(solution.at[i]);
    }
    out = space().settle(std::move(out), random.bits());
    // Where rounding breaks a constraint, the neighbours of the point that it began from are next.
    return space().contains(out) ? out : base;
  }

  std::vector<double> random_weights(Stream& random) const {
    std::vector<double> out(history().objectives());
    double sum = 0;
    for (double& w : out) sum += w = -std::log(1 - random.uniform());
    for (double& w : out) w /= sum;
    return out;
  }

  void learn(std::size_t trial) override { surrogate_.learn(trial); }

  SobolSequence sequence_;
  Surrogate surrogate_;
};

}  // namespace

std::unique_ptr<Sampler> make_nlopt(const Space& space, const SamplerOptions& options) {
  return std::make_unique<Nlopt>(space, options);
}

}  // namespace halmark
