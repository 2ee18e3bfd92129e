// The same semantics as the engine's, done the slow and plain way: seconds as long doubles, every
// rate found anew whenever anything begins or ends.
#pragma once

#include <vector>

#include "simulate/events/task_graph.hpp"

namespace halmark::events::test {

struct ReferenceTimes {
  std::vector<double> start_s, end_s;
};
// Streams in the order fifo alone. Times that fall together have to do so exactly.
ReferenceTimes reference_times(const TaskGraph& graph);

}  // namespace halmark::events::test
