// A step as tasks: programs of stages on devices, in the order of the schedule, with what passes
// between them.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/events/task_graph.hpp"
#include "simulate/schedule/device_wires.hpp"
#include "simulate/schedule/kernel_times.hpp"
#include "simulate/schedule/program/stage_program.hpp"

namespace halmark::schedule {

// closed_form: one event per collective and rank, of the time that its source states, on the
// stream for communication. messages: every message over the links of the site.
enum class Carriage { closed_form, messages };

struct LoweringOptions {
  Carriage carriage = Carriage::closed_form;
  double events_max = 2e7;
  std::uint64_t seed = 1;  // of the ways that flows choose
};

// Of device i stream 3 i computes, 3 i + 1 communicates within its pipeline, and 3 i + 2 with the
// copies of its weights: libraries have a stream for each kind of group, and a gradient that waits
// for replicas must not hold up the next layer's all-reduce.
inline constexpr std::int64_t device_streams = 3;
struct LoweredStep {
  events::TaskGraph graph;
  std::vector<std::uint32_t> labels;  // by task, of Programs::labels
  std::vector<int> actors;            // by device, see actors_of
  std::vector<std::string> links;     // by link: its name
};

// How many events lower_step() makes.
double events_of(const Programs& programs, const DeviceGrid& grid, const Site& site,
                 Carriage carriage);
// Throws Error (exit 2) where that exceeds the limit.
void require_within(double events, double events_max);

// Every task comes behind those it waits for. Throws as require_within() before anything is made.
LoweredStep lower_step(const Programs& programs, const DeviceGrid& grid, const Site& site,
                       const KernelTimes& times, const LoweringOptions& options);

}  // namespace halmark::schedule
