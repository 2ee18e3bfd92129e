// When each task of a graph begins and ends, and which other one's end let it.
#pragma once

#include <vector>

#include "simulate/events/task_graph.hpp"

namespace halmark::events {

// What passes over a link from `time` on.
struct LinkLoad {
  Picoseconds time = 0;
  LinkIndex link{};
  double bytes_per_s = 0;
};

struct SimulationOptions {
  bool records_loads = false;
  // Hops of messages whose rates may be found anew, all in all; about 30 ns each. Not before it is
  // reached can it be known how often rates change, and it is no time, so that every run stops at
  // the same event.
  double rates_max = 1e18;
};

// One event per task, under its index; kind, actor, place and bytes are in the graph.
struct EventList {
  std::vector<Picoseconds> start_ps, end_ps;
  // The task whose end is this one's start: the last that it waited for, or the one before it on
  // its stream. no_task: it began at 0.
  std::vector<TaskIndex> cause;
  Picoseconds makespan_ps = 0;
  std::vector<double> link_bytes;         // by link
  std::vector<Picoseconds> link_busy_ps;  // with something on it
  std::vector<LinkLoad> loads;            // by time; the last of an instant holds
  bool is_complete = true;  // else rates_max was reached: what has not ended yet has its end at 0
};

// Deterministic: what happens in one instant is handled in the order of the tasks. All that ends in
// an instant ends before anything begins in it, so that a stream chooses among all who wait. Throws
// Error (exit 2) where tasks wait for each other in a circle.
EventList timed(const TaskGraph& graph, const SimulationOptions& options = {});

}  // namespace halmark::events
