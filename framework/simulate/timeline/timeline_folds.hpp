// What a timeline comes to: sums over labels, devices, links and the critical path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulate/timeline/timeline.hpp"

namespace halmark::simulate {

// "layer 3 q_proj backward" without its layer.
std::string_view without_layer(std::string_view label);

// All events of one kind whose labels differ in the layer alone. What takes no time and moves
// nothing (waiting for the other ranks) is left out.
struct LabelFold {
  std::string label;
  events::EventKind kind = events::EventKind::kernel;
  TimelinePhase phase = TimelinePhase::step;
  std::size_t events = 0;
  events::Picoseconds busy_ps = 0, critical_ps = 0;  // of all devices; of the critical path
  events::Picoseconds first_ps = 0, last_ps = 0;     // begin of the first, end of the last
  double flops = 0, bytes = 0;
};
std::vector<LabelFold> fold_by_label(const Timeline& timeline);  // longest first

// Parts of the makespan.
struct CriticalParts {
  events::Picoseconds compute_ps = 0, communication_ps = 0, one_time_ps = 0, other_ps = 0;
  // What nothing on the path accounts for: 0, because every event of it begins where the one before
  // has ended.
  events::Picoseconds gap_ps = 0;
};
CriticalParts critical_parts(const Timeline& timeline);

// How the devices that compute spend the step, on average: computing, communicating while nothing
// computes, and neither (the bubble).
struct DeviceParts {
  std::size_t devices = 0;
  double compute = 0, communication = 0, bubble = 0;  // fractions of the step
  double hidden_communication = 0;                    // beside these, while the device computes
};
DeviceParts device_parts(const Timeline& timeline);

bool is_communication(events::EventKind kind);

}  // namespace halmark::simulate
