// Pareto local search (Paquete, Chiarandini, Stuetzle 2004): all neighbours of the front point that
// adds most to the hypervolume and still has a new one; a Sobol point when none has. What a point's
// neighbours are is a function of its trial wherever they can all be listed, so that "all are
// known" follows from the rows of the study and not from who asked when.
#include <algorithm>
#include <unordered_set>

#include "core/lists.hpp"
#include "search/proposer.hpp"
#include "search/samplers/selection.hpp"
#include "search/samplers/sobol_sequence.hpp"

namespace halmark {
namespace {

constexpr std::size_t start_trials = 10;
constexpr std::uint64_t purpose_neighbour = 0x915, purpose_around = 0x91500000000;

class Pls : public Proposer {
 public:
  Pls(const Space& space, const SamplerOptions& options)
      : Proposer("pls", space, options), sequence_(space.domains().size(), options.seed) {}

 private:
  std::optional<Point> propose(std::uint64_t trial, std::uint64_t attempt) override {
    if (trial >= start_trials && attempt == 0 && !values_.empty()) {
      if (auto p = neighbour_of_front(trial)) return p;
    }
    return space().from_unit(sequence_.at(trial + attempt));
  }

  std::optional<Point> neighbour_of_front(std::uint64_t trial) {
    if (!is_ordered_) {
      const std::vector<std::size_t> front = non_dominated(values_);
      std::vector<Objectives> members =
          mapped(front, [&](const std::size_t i) { return values_[i]; });
      order_.clear();
      for (const std::size_t k : best_points(members, members.size())) {
        order_.push_back(trials_[front[k]]);
      }
      is_ordered_ = true;
    }
    // Neighbours along a continuum never end: they are drawn anew for every trial.
    const bool is_countable = space().is_countable();
    for (const std::size_t i : order_) {
      if (spent_.contains(i)) continue;
      std::vector<Point> around = space().neighbours(
          history().trials()[i].point, stream(is_countable ? 0 : trial, purpose_around + i).bits());
      effort_.spend(around.size() + 1);
      std::erase_if(around, [&](const Point& p) { return history().knows(p); });
      if (!around.empty()) return any_of(std::move(around), trial);
      if (is_countable) spent_.insert(i);
    }
    return std::nullopt;
  }

  // Any of those that are unlikely to fail; where none is, the least likely.
  Point any_of(std::vector<Point> around, std::uint64_t trial) const {
    Stream random = stream(trial, purpose_neighbour);
    const double risk_max = guard().is_awake() ? guard().risk_max() : 1;
    const std::size_t first = random.below(around.size());
    std::size_t best = first;
    double least = 2;
    for (std::size_t k = 0; k < around.size() && risk_max < 1 && least > risk_max; ++k) {
      const std::size_t i = (first + k) % around.size();
      const double risk = guard().risk(around[i]);
      if (risk >= least) continue;
      best = i;
      least = risk;
    }
    return std::move(around[best]);
  }

  void learn(std::size_t trial) override {
    const Trial& t = history().trials()[trial];
    if (t.outcome != TrialOutcome::complete) return;
    trials_.push_back(trial);
    values_.push_back(t.objectives);
    is_ordered_ = false;
  }

  SobolSequence sequence_;
  std::vector<std::size_t> trials_, order_;
  std::vector<Objectives> values_;
  std::unordered_set<std::size_t> spent_;  // trials whose neighbours are all known, for good
  bool is_ordered_ = false;
};

}  // namespace

std::unique_ptr<Sampler> make_pls(const Space& space, const SamplerOptions& options) {
  return std::make_unique<Pls>(space, options);
}

}  // namespace halmark
