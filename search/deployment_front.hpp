// The front of evaluated deployments. Each phase has its own: a prefill step and a decode step are
// no alternatives to one another.
#pragma once

#include <span>
#include <vector>

#include "core/configuration.hpp"
#include "search/pareto/pareto.hpp"

namespace halmark {

// Minimised; throughput is negated here and nowhere else.
Objectives objective_values(const Estimate& estimate, std::span<const Objective> objectives);

// Indices of evaluations with an estimate that no other of their phase dominates; decode first,
// then prefill, each by latency.
std::vector<std::size_t> deployment_front(std::span<const Evaluation> evaluations,
                                          std::span<const Objective> objectives);

}  // namespace halmark
