// The state that the page shows: its graph, its estimate and its memory, made once for every part
// of the page.
#pragma once

#include <vector>

#include "core/latency.hpp"
#include "model/graph/graph.hpp"
#include "model/pricing/memory.hpp"
#include "pages/serve/priced_system.hpp"

namespace halmark::pages {

struct ComposedStep {
  OperatorGraph graph;
  Estimate estimate;
  MemoryUse memory;
  // By operator of the graph, of one execution on the heaviest rank.
  std::vector<Latency> latencies;
};

// Throws Error (exit 2) for a split that the model refuses, and where a kernel has no time. A step
// that does not fit the memory is priced all the same: the page says that it does not fit.
ComposedStep composed_step(const PricedSystem& system, const Configuration& configuration);

}  // namespace halmark::pages
