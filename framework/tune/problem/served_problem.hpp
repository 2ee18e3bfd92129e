// The problem of requests: how a load can be served, by equal replicas or by workers of two kinds.
#pragma once

#include <span>

#include "tune/problem/parameters.hpp"

namespace halmark::tune {

TuneProblem served_problem(const Sweep& sweep, const ModelSpec& spec,
                           std::span<const std::int64_t> devices, const PrecisionFacts& precisions);

}  // namespace halmark::tune
