// What happened in a simulation, or in a run, event by event: the one value that tables, charts,
// exports, power and the page are folds of. Plain arrays: an event takes 64 bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/events/task_graph.hpp"

namespace halmark::simulate {

// Boot, compilation, loading of weights and the like happen once and are no part of a step.
enum class TimelinePhase : std::uint8_t { one_time, step };
std::string_view phase_name(TimelinePhase phase);  // "one_time", "step"

// What an event occupies: a stream of a device alone, or a link together with others.
struct TimelineResource {
  std::string name;  // "node0.device1 compute", "node0.device1 - node0.switch0"
  bool is_link = false;
  double bytes_per_s = 0;  // of a link, one direction; 0 of a stream
  double bytes = 0;        // that a link carried
  events::Picoseconds busy_ps = 0;
};

struct TimelineEvent {
  static constexpr std::uint32_t none = 0xffffffff;
  events::Picoseconds start_ps = 0, end_ps = 0;
  double bytes = 0;  // moved over a link, or by the memory of a device
  double flops = 0;
  std::uint32_t label = 0;        // of Timeline::labels: "layer 3 q_proj", "request 17 prefill"
  std::uint32_t actor = 0;        // of Timeline::actors
  std::uint32_t resource = none;  // of Timeline::resources
  std::uint32_t cause = none;     // the event whose end let it begin
  events::EventKind kind = events::EventKind::kernel;
  TimelinePhase phase = TimelinePhase::step;
  bool is_critical = false;  // on the path that the makespan consists of
};

// Times count from the begin of the simulation. The events marked critical follow each other
// without a gap and sum to the makespan.
struct Timeline {
  std::vector<std::string> actors;  // entities of the topology
  std::vector<std::string> labels;
  std::vector<TimelineResource> resources;
  std::vector<TimelineEvent> events;  // an event comes behind its cause
  events::Picoseconds makespan_ps = 0;
};

}  // namespace halmark::simulate
