#include "search/deployment_front.hpp"

#include <algorithm>

namespace halmark {
namespace {

double objective_value(Objective objective, const Estimate& e) {
  switch (objective) {
    case Objective::latency:
      return e.step_ns;
    case Objective::throughput:
      return -e.tokens_per_s;
    case Objective::memory:
      return static_cast<double>(e.memory_bytes_total);
  }
  return e.step_ns;
}

}  // namespace

Objectives objective_values(const Estimate& estimate, std::span<const Objective> objectives) {
  Objectives out;
  for (const Objective o : objectives) out.push_back(objective_value(o, estimate));
  return out;
}

std::vector<std::size_t> deployment_front(std::span<const Evaluation> evaluations,
                                          std::span<const Objective> objectives) {
  std::vector<std::size_t> out;
  for (const Phase phase : {Phase::decode, Phase::prefill}) {
    std::vector<std::size_t> members;
    std::vector<Objectives> points;
    for (std::size_t i = 0; i < evaluations.size(); ++i) {
      const Evaluation& e = evaluations[i];
      if (e.configuration.workload.phase != phase || !e.estimate) continue;
      members.push_back(i);
      points.push_back(objective_values(*e.estimate, objectives));
    }
    std::vector<std::size_t> front;
    for (const std::size_t k : non_dominated(points)) front.push_back(members[k]);
    std::ranges::stable_sort(front, {},
                             [&](std::size_t i) { return evaluations[i].estimate->step_ns; });
    out.insert(out.end(), front.begin(), front.end());
  }
  return out;
}

}  // namespace halmark
