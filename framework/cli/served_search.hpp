// The search over served deployments: all of them are priced, the front and the nearest misses
// kept.
#pragma once

#include "cli/latency_sources.hpp"
#include "plan/sweep.hpp"
#include "report/served_report.hpp"

namespace halmark::cli {

// Throws Error (exit 2) for an objective or level whose figure nobody states, and where no
// configuration exists.
ServedReport search_served(const Sweep& sweep, const Device& device,
                           const PricedLatencies& latencies);

}  // namespace halmark::cli
