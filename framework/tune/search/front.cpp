#include "tune/search/front.hpp"

#include <algorithm>

#include "search/pareto/pareto.hpp"

namespace halmark::tune {

std::vector<std::size_t> step_front(std::span<const Evaluation> evaluations,
                                    std::span<const Objective> objectives) {
  std::vector<std::size_t> out;
  for (const Phase phase : {Phase::decode, Phase::prefill}) {
    std::vector<std::size_t> members;
    std::vector<Objectives> points;
    for (std::size_t i = 0; i < evaluations.size(); ++i) {
      const Evaluation& e = evaluations[i];
      if (e.configuration.workload.phase != phase || !e.estimate) continue;
      members.push_back(i);
      points.push_back(minimised(*e.estimate, objectives));
    }
    std::vector<std::size_t> front;
    for (const std::size_t k : non_dominated(points)) front.push_back(members[k]);
    std::ranges::stable_sort(front, {},
                             [&](std::size_t i) { return evaluations[i].estimate->step_ns; });
    out.insert(out.end(), front.begin(), front.end());
  }
  return out;
}

}  // namespace halmark::tune
