// What the makespan consists of.
#pragma once

#include "simulate/events/simulation.hpp"

namespace halmark::events {

// From 0 to the makespan: each begins where the one before it ends, so that their times sum to the
// makespan. Of several that end last, the first in the graph.
std::vector<TaskIndex> critical_path(const EventList& events);

}  // namespace halmark::events
