// A timeline made of tasks and their times.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "simulate/events/simulation.hpp"
#include "simulate/timeline/timeline.hpp"

namespace halmark::simulate {

// What the indices of a graph stand for.
struct TimelineNames {
  std::vector<std::string> actors;          // by ActorIndex
  std::vector<std::string> streams, links;  // by StreamIndex and LinkIndex
  std::vector<std::string> labels;
  std::span<const std::uint32_t> label_of;  // by task
  // Of an event, by label: what it computes, and what it moves where its task states no bytes.
  std::vector<double> flops, bytes;
};

// Every event of the graph, in the order of its tasks, or an order in which each comes behind its
// cause where theirs is not. A message over several links names the first that it takes.
Timeline timeline_of(const events::TaskGraph& graph, const events::EventList& events,
                     const TimelineNames& names);

// What happens before the step: one after the other.
struct OneTimePhase {
  events::EventKind kind = events::EventKind::boot;
  double seconds = 0;
  std::string source;  // "stated", "524 MB at 51.2 GB/s (tier host)"
};

// The same with phases before it, on every device that computes: they happen once, or are a part of
// every step. Its makespan has both.
Timeline preceded_by(const Timeline& step, std::span<const OneTimePhase> phases,
                     TimelinePhase phase = TimelinePhase::one_time);

// The first event of the step: where the one-time phases have ended.
events::Picoseconds step_begin_ps(const Timeline& timeline);

}  // namespace halmark::simulate
