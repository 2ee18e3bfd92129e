// The search over served loads and its report.
#pragma once

#include <functional>

#include "report/served_report.hpp"
#include "tune/evaluate/served_evaluator.hpp"
#include "tune/plan/plan.hpp"
#include "tune/search/priced/priced_search.hpp"

namespace halmark::tune {

// Throws Error (exit 2) for an objective or a level whose figure nobody states. `progress` is
// called with the number of trials so far and may be empty.
ServedReport search_served(const TunePlan& plan, const LatencyChain& latencies,
                           const ServedCosts& costs, const std::function<bool()>& should_stop,
                           const std::function<void(std::size_t)>& progress,
                           const PricedExtras& extras = {});

}  // namespace halmark::tune
