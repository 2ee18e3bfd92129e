// Simulated annealing (Kirkpatrick et al. 1983; for several objectives the amount of domination of
// Bandyopadhyay et al. 2008): a neighbour is accepted when the current point does not dominate it,
// else with a probability that falls with how far it is behind, in units of the spread seen so far.
#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "search/pareto/pareto.hpp"
#include "search/samplers/sobol_sequence.hpp"
#include "search/samplers/variation.hpp"

namespace halmark {
namespace {

constexpr std::size_t start_trials = 10;
constexpr double first_temperature = 0.5, cooling = 0.995;
constexpr std::uint64_t purpose_move = 0xa7, purpose_accept = 0xa8;

class Anneal : public Proposer {
 public:
  Anneal(const Space& space, const SamplerOptions& options)
      : Proposer("anneal", space, options), sequence_(space.domains().size(), options.seed) {}

 private:
  std::optional<Point> propose(std::uint64_t trial, std::uint64_t attempt) override {
    if (trial < start_trials || !current_) return space().from_unit(sequence_.at(trial + attempt));
    Stream random = stream(trial, purpose_move + attempt * 16);
    const Point& p = history().trials()[*current_].point;
    return child_of(space(), p, p, {.crossover = 0, .mutations = 1, .at_least_one = true}, random);
  }

  void learn(std::size_t trial) override {
    const Trial& t = history().trials()[trial];
    if (t.outcome != TrialOutcome::complete) return;
    low_.resize(t.objectives.size(), t.objectives.front());
    high_.resize(t.objectives.size(), t.objectives.front());
    for (const auto m : indices(low_)) {
      if (!current_) low_[m] = high_[m] = t.objectives[m];
      low_[m] = std::min(low_[m], t.objectives[m]);
      high_[m] = std::max(high_[m], t.objectives[m]);
    }
    temperature_ *= cooling;
    if (!current_ || is_accepted(history().trials()[*current_], t, trial)) current_ = trial;
  }

  bool is_accepted(const Trial& current, const Trial& next, std::size_t trial) const {
    if (!dominates(current.objectives, next.objectives)) return true;
    double behind = 0;
    for (const auto m : indices(low_)) {
      if (high_[m] > low_[m]) {
        behind += (next.objectives[m] - current.objectives[m]) / (high_[m] - low_[m]);
      }
    }
    return stream(trial, purpose_accept).uniform() < std::exp(-behind / temperature_);
  }

  SobolSequence sequence_;
  std::optional<std::size_t> current_;
  Objectives low_, high_;
  double temperature_ = first_temperature;
};

}  // namespace

std::unique_ptr<Sampler> make_anneal(const Space& space, const SamplerOptions& options) {
  return std::make_unique<Anneal>(space, options);
}

}  // namespace halmark
