#include "tune/search/front.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "search/pareto/pareto.hpp"

namespace halmark::tune {
namespace {

struct Candidate {
  std::size_t evaluation = 0;
  Objectives point;
  bool is_bound = false;
};

// Those of `all` that `keep` says, and that no one of these dominates.
template <class Keep>
std::vector<std::size_t> undominated(const std::vector<Candidate>& all, const Keep& keep) {
  std::vector<std::size_t> members;
  std::vector<Objectives> points;
  for (const Candidate& c : all) {
    if (!keep(c)) continue;
    members.push_back(c.evaluation);
    points.push_back(c.point);
  }
  return mapped(non_dominated(points), [&](const std::size_t k) { return members[k]; });
}

}  // namespace

std::vector<std::size_t> step_front(std::span<const Evaluation> evaluations,
                                    std::span<const Objective> objectives, bool bounds_compete) {
  std::vector<std::size_t> out;
  for (const Phase phase : {Phase::decode, Phase::prefill}) {
    std::vector<Candidate> all;
    for (const auto i : indices(evaluations)) {
      const Evaluation& e = evaluations[i];
      if (e.configuration.workload.phase != phase || !e.estimate) continue;
      all.push_back(
          {i, minimised(*e.estimate, objectives), e.estimate->provenance == Provenance::roofline});
    }
    std::vector<std::size_t> front = undominated(all, [](const Candidate&) { return true; });
    if (!bounds_compete) {
      for (const std::size_t i : undominated(all, [](const Candidate& c) { return !c.is_bound; })) {
        if (std::ranges::find(front, i) == front.end()) front.push_back(i);
      }
    }
    std::ranges::stable_sort(front, {},
                             [&](std::size_t i) { return evaluations[i].estimate->step_ns; });
    append_all(out, front);
  }
  return out;
}

}  // namespace halmark::tune
