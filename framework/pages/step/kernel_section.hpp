// Measured layers and kernels beside the graph: --per-layer-ms, --kernel-ms, --kernel-flow.
#pragma once

#include <string>

#include "model/step/priced_step.hpp"
#include "report/views/view.hpp"

namespace halmark::pages {

struct MeasuredKernels {
  std::string per_layer_ms;            // MS or TYPE=MS,...
  std::string kernel_ms, kernel_flow;  // FILE, @FILE or JSON; not both
};

// Keys `per_layer` and `kernels`, null for what was not given. Throws Error (exit 2) for tables
// that cannot be read or contradict the graph.
report::View kernels_view(const PricedStep& step, const MeasuredKernels& measured, int width);

}  // namespace halmark::pages
