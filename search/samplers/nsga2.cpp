// NSGA-II (Deb et al. 2002), steady-state: a child per finished trial, no generations.
// Non-dominated ranks and crowding, binary tournaments; infeasible trials stand behind feasible
// ones by how much they break. The population keeps who dominates whom as bit masks and one sorted
// order per objective, so that a trial costs microseconds.
#include <algorithm>
#include <array>
#include <limits>

#include "core/lists.hpp"
#include "search/pareto/pareto.hpp"
#include "search/proposer.hpp"
#include "search/samplers/sobol_sequence.hpp"
#include "search/samplers/variation.hpp"

namespace halmark {
namespace {

constexpr std::size_t population_large = 50, population_small = 20;
constexpr std::size_t trials_of_small = 300;
constexpr std::uint64_t purpose_child = 0x251a2;

class Nsga2 : public Proposer {
 public:
  Nsga2(const Space& space, const SamplerOptions& options)
      : Proposer("nsga2", space, options),
        sequence_(space.domains().size(), options.seed),
        size_max_(options.trials > 0 && options.trials < trials_of_small ? population_small
                                                                         : population_large) {
    best_first_.reserve(size_max_ + 1);
  }

 private:
  // Slot i of the population; masks are over slots.
  struct Member {
    std::size_t trial = 0;
    std::uint64_t better = 0;  // those that dominate it
    int rank = 0;
    double crowding = 0;
  };

  std::optional<Point> propose(std::uint64_t trial, std::uint64_t attempt) override {
    if (trial < size_max_ || best_first_.size() < 2) {
      return space().from_unit(sequence_.at(trial + attempt));
    }
    Stream random = stream(trial, purpose_child + attempt);
    const Point& first = tournament(random);
    return child_of(space(), first, tournament(random), {.at_least_one = true}, random);
  }

  const Point& tournament(Stream& random) const {
    const std::size_t a = random.below(best_first_.size()), b = random.below(best_first_.size());
    return history().trials()[members_[best_first_[std::min(a, b)]].trial].point;
  }

  bool is_better(const Trial& a, const Trial& b) const {
    if (a.violation != b.violation) return a.violation < b.violation;
    return a.violation == 0 && dominates(a.objectives, b.objectives);
  }

  void learn(std::size_t trial) override {
    const Trial& t = history().trials()[trial];
    if (t.outcome == TrialOutcome::failed) return;
    insert(trial);
    order();
    if (best_first_.size() > size_max_) {
      remove(best_first_.back());
      best_first_.pop_back();
    }
  }

  void insert(std::size_t trial) {
    std::size_t slot = 0;
    while (slot < members_.size() && (alive_ >> slot & 1) != 0) ++slot;
    if (slot == members_.size()) members_.emplace_back();
    members_[slot] = {.trial = trial};
    const Trial& t = history().trials()[trial];
    for (const auto i : indices(members_)) {
      if ((alive_ >> i & 1) == 0) continue;
      const Trial& other = history().trials()[members_[i].trial];
      if (is_better(other, t)) members_[slot].better |= std::uint64_t{1} << i;
      if (is_better(t, other)) members_[i].better |= std::uint64_t{1} << slot;
    }
    alive_ |= std::uint64_t{1} << slot;
    best_first_.push_back(slot);
    if (t.violation > 0) return;
    by_objective_.resize(std::max(by_objective_.size(), t.objectives.size()));
    for (const auto m : indices(t.objectives)) {
      auto& sorted = by_objective_[m];
      const auto at = std::ranges::upper_bound(sorted, t.objectives[m], {},
                                               [&](std::size_t i) { return value(i, m); });
      sorted.insert(at, slot);
    }
  }

  double value(std::size_t slot, std::size_t objective) const {
    return history().trials()[members_[slot].trial].objectives[objective];
  }

  void remove(std::size_t slot) {
    const std::uint64_t bit = std::uint64_t{1} << slot;
    alive_ &= ~bit;
    for (Member& m : members_) m.better &= ~bit;
    for (auto& sorted : by_objective_) std::erase(sorted, slot);
  }

  // Ranks, crowding within each rank, and the slots from best to worst.
  void order() {
    std::uint64_t left = alive_;
    for (int rank = 0; left != 0; ++rank) {
      std::uint64_t peeled = 0;
      for (const auto i : indices(members_)) {
        if ((left >> i & 1) == 0 || (members_[i].better & left) != 0) continue;
        members_[i].rank = rank;
        members_[i].crowding = 0;
        peeled |= std::uint64_t{1} << i;
      }
      left &= ~peeled;
    }
    for (const auto m : indices(by_objective_)) add_gaps(m);
    std::ranges::sort(best_first_, [&](std::size_t a, std::size_t b) {
      const Member &x = members_[a], &y = members_[b];
      if (x.rank != y.rank) return x.rank < y.rank;
      return x.crowding != y.crowding ? x.crowding > y.crowding : x.trial < y.trial;
    });
  }

  // Adds to each member the gap between its neighbours of the same rank in one objective.
  void add_gaps(std::size_t objective) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr std::size_t none = 64;
    struct Seen {
      std::size_t first = none, last = none, before_last = none;
    };
    std::array<Seen, 64> seen;
    const auto& sorted = by_objective_[objective];
    for (const std::size_t i : sorted) {
      Seen& s = seen[as_size(members_[i].rank)];
      if (s.first == none) s.first = i;
      s.last = i;
    }
    std::array<double, 64> spans{};
    for (std::size_t r = 0; r < seen.size() && seen[r].first != none; ++r) {
      spans[r] = value(seen[r].last, objective) - value(seen[r].first, objective);
      members_[seen[r].first].crowding = members_[seen[r].last].crowding = inf;
      seen[r].last = none;
    }
    for (const std::size_t i : sorted) {
      const auto rank = as_size(members_[i].rank);
      Seen& s = seen[rank];
      if (s.before_last != none && spans[rank] > 0) {
        members_[s.last].crowding +=
            (value(i, objective) - value(s.before_last, objective)) / spans[rank];
      }
      s.before_last = s.last;
      s.last = i;
    }
  }

  SobolSequence sequence_;
  std::size_t size_max_;
  std::vector<Member> members_;
  std::uint64_t alive_ = 0;
  std::vector<std::size_t> best_first_;
  std::vector<std::vector<std::size_t>> by_objective_;
};

}  // namespace

std::unique_ptr<Sampler> make_nsga2(const Space& space, const SamplerOptions& options) {
  return std::make_unique<Nsga2>(space, options);
}

}  // namespace halmark
