// NSGA-III (Deb and Jain 2014), steady-state: NSGA-II's variation, but among the worst rank the
// most crowded reference direction (Das and Dennis 1998) loses a member. For four objectives and
// more.
#include <algorithm>
#include <limits>

#include "core/lists.hpp"
#include "search/pareto/pareto.hpp"
#include "search/samplers/sobol_sequence.hpp"
#include "search/samplers/variation.hpp"

namespace halmark {
namespace {

constexpr std::size_t population_least = 20, directions_max = 100;
constexpr std::uint64_t purpose_child = 0x251a3;

// How many vectors das_dennis gives; more than directions_max counts as that and one.
std::size_t das_dennis_count(std::size_t objectives, int divisions) {
  double out = 1;
  for (int k = 1; k <= divisions; ++k) {
    out *= as_double(objectives - 1 + as_size(k)) / k;
  }
  return out > as_double(directions_max) ? directions_max + 1 : as_size(std::lround(out));
}

// All vectors of `objectives` shares that are multiples of 1 / divisions and add up to one.
std::vector<Objectives> das_dennis(std::size_t objectives, int divisions) {
  std::vector<Objectives> out;
  Objectives at(objectives, 0);
  const auto fill = [&](auto& self, std::size_t m, int left) -> void {
    if (m + 1 == objectives) {
      at[m] = as_double(left) / divisions;
      out.push_back(at);
      return;
    }
    for (int k = 0; k <= left; ++k) {
      at[m] = as_double(k) / divisions;
      self(self, m + 1, left - k);
    }
  };
  fill(fill, 0, divisions);
  return out;
}

// 12 divisions for three objectives; as many as directions_max allows otherwise.
std::vector<Objectives> directions_of(std::size_t objectives) {
  if (objectives == 1) return {{1}};
  std::vector<Objectives> out = das_dennis(objectives, 1);
  for (int divisions = 2; divisions <= 49; ++divisions) {
    if (das_dennis_count(objectives, divisions) > directions_max) break;
    out = das_dennis(objectives, divisions);
  }
  return out;
}

class Nsga3 : public Proposer {
 public:
  Nsga3(const Space& space, const SamplerOptions& options)
      : Proposer("nsga3", space, options), sequence_(space.domains().size(), options.seed) {}

 private:
  std::size_t size_max() const { return std::max(population_least, directions_.size()); }

  std::optional<Point> propose(std::uint64_t trial, std::uint64_t attempt) override {
    if (members_.size() < 2 || trial < size_max()) {
      return space().from_unit(sequence_.at(trial + attempt));
    }
    Stream random = stream(trial, purpose_child + attempt);
    const Point& first = tournament(random);
    return child_of(space(), first, tournament(random), {}, random);
  }

  const Point& tournament(Stream& random) const {
    const std::size_t a = random.below(members_.size()), b = random.below(members_.size());
    return history().trials()[members_[ranks_[a] <= ranks_[b] ? a : b]].point;
  }

  void learn(std::size_t trial) override {
    const Trial& t = history().trials()[trial];
    if (t.outcome == TrialOutcome::failed || (t.violation > 0 && t.objectives.empty())) return;
    if (directions_.empty() && t.outcome == TrialOutcome::complete) {
      directions_ = directions_of(t.objectives.size());
    }
    members_.push_back(trial);
    rank();
    if (members_.size() > size_max()) remove_worst();
  }

  // Feasible members by domination; infeasible ones behind, by what they break.
  void rank() {
    std::vector<Objectives> values;
    std::vector<std::size_t> feasible;
    ranks_.assign(members_.size(), std::numeric_limits<int>::max());
    for (const auto i : indices(members_)) {
      const Trial& t = history().trials()[members_[i]];
      if (t.violation > 0) continue;
      feasible.push_back(i);
      values.push_back(t.objectives);
    }
    const std::vector<int> ranks = non_dominated_ranks(values);
    for (const auto k : indices(feasible)) ranks_[feasible[k]] = ranks[k];
  }

  void remove_worst() {
    const int worst = *std::ranges::max_element(ranks_);
    std::size_t out = members_.size();
    if (worst == std::numeric_limits<int>::max()) {
      double most = -1;
      for (const auto i : indices(members_)) {
        const double violation = history().trials()[members_[i]].violation;
        if (ranks_[i] == worst && violation > most) {
          most = violation;
          out = i;
        }
      }
    } else {
      out = most_crowded(worst);
    }
    members_.erase(members_.begin() + as_int64(out));
    ranks_.erase(ranks_.begin() + as_int64(out));
  }

  // The member of the rank farthest from its direction, where that direction has most members.
  std::size_t most_crowded(int rank) const {
    const std::size_t objectives = directions_.front().size();
    Objectives low(objectives, std::numeric_limits<double>::infinity()), high(objectives, -low[0]);
    for (const std::size_t i : members_) {
      const Trial& t = history().trials()[i];
      for (std::size_t m = 0; m < objectives && t.violation == 0; ++m) {
        low[m] = std::min(low[m], t.objectives[m]);
        high[m] = std::max(high[m], t.objectives[m]);
      }
    }
    std::vector<std::size_t> crowd(directions_.size(), 0), nearest(members_.size(), 0);
    std::vector<double> distance(members_.size(), 0);
    for (const auto i : indices(members_)) {
      Objectives p = history().trials()[members_[i]].objectives;
      for (const auto m : indices(objectives)) {
        p[m] = high[m] > low[m] ? (p[m] - low[m]) / (high[m] - low[m]) : 0;
      }
      distance[i] = std::numeric_limits<double>::infinity();
      for (const auto k : indices(directions_)) {
        const double d = squared_distance(p, directions_[k]);
        if (d >= distance[i]) continue;
        distance[i] = d;
        nearest[i] = k;
      }
      ++crowd[nearest[i]];
    }
    std::size_t out = members_.size();
    for (const auto i : indices(members_)) {
      if (ranks_[i] != rank) continue;
      const bool is_worse = out == members_.size() || crowd[nearest[i]] > crowd[nearest[out]] ||
                            (nearest[i] == nearest[out] && distance[i] > distance[out]);
      if (is_worse) out = i;
    }
    return out;
  }

  // From a point to the line through the origin along a direction.
  static double squared_distance(const Objectives& p, const Objectives& direction) {
    double along = 0, length = 0, squares = 0;
    for (const auto m : indices(p)) {
      along += p[m] * direction[m];
      length += direction[m] * direction[m];
      squares += p[m] * p[m];
    }
    return squares - along * along / length;
  }

  SobolSequence sequence_;
  std::vector<Objectives> directions_;
  std::vector<std::size_t> members_;  // trials
  std::vector<int> ranks_;            // of the members
};

}  // namespace

std::unique_ptr<Sampler> make_nsga3(const Space& space, const SamplerOptions& options) {
  return std::make_unique<Nsga3>(space, options);
}

}  // namespace halmark
