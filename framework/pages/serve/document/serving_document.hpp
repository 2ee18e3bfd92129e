// A simulated server as the page shows it.
#pragma once

#include "core/json/json_type.hpp"
#include "pages/serve/state/page_state.hpp"
#include "tune/serving/served_simulation.hpp"

namespace halmark::pages {

// {"state", "figures": as of figures_json, "experienced": [{"what", "n", "mean_ns", "p50_ns",
// "p90_ns", "p99_ns"}], "engines", "basis", "closed_form"}: what `halmark simulate serving` has, in
// the page's units.
// `tables`: what the times of kernels are from; none = bounds alone.
Json serving_json(const PageState& state, const tune::ServedSimulation& served,
                  const std::vector<TableUse>& tables);

}  // namespace halmark::pages
