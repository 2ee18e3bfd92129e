// The search over steps whose kernels are not measured now, and its report.
#pragma once

#include <functional>

#include "core/latency.hpp"
#include "report/report.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::tune {

// Throws Error (exit 2) when no configuration has figures.
RunReport search_steps(const TunePlan& plan, const LatencySource& latencies,
                       const std::function<bool()>& should_stop, bool bounds_compete = false);

}  // namespace halmark::tune
