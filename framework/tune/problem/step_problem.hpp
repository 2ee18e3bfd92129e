// The problem of one phase: which steps a sweep's workloads ask for, on which layouts.
#pragma once

#include <span>

#include "tune/problem/parameters.hpp"

namespace halmark::tune {

TuneProblem step_problem(const Sweep& sweep, Phase phase, const ModelSpec& spec,
                         std::span<const std::int64_t> shards, const PrecisionFacts& precisions);

}  // namespace halmark::tune
