#include "simulate/timeline/timeline_of.hpp"

#include <algorithm>
#include <numeric>

#include "core/lists.hpp"
#include "simulate/events/critical_path.hpp"

namespace halmark::simulate {
namespace {

using events::Picoseconds;
using events::Place;
using events::TaskIndex;

// Ranks of tasks in which causes come first; empty where that is the order that they have.
std::vector<std::uint32_t> order_of(const events::EventList& events) {
  const auto count = as_uint32(events.cause.size());
  bool is_ordered = true;
  for (std::uint32_t i = 0; i < count && is_ordered; ++i) {
    const TaskIndex cause = events.cause[i];
    is_ordered = cause == events::no_task || events::at(cause) < i;
  }
  if (is_ordered) return {};
  std::vector<std::uint32_t> depth(count, 0), chain;
  for (const std::uint32_t i : below(count)) {
    for (std::uint32_t at = i; depth[at] == 0;) {
      chain.push_back(at);
      if (events.cause[at] == events::no_task) break;
      at = as_uint32(events::at(events.cause[at]));
    }
    for (; !chain.empty(); chain.pop_back()) {
      const std::uint32_t at = chain.back();
      const TaskIndex cause = events.cause[at];
      depth[at] = cause == events::no_task ? 1 : depth[events::at(cause)] + 1;
    }
  }
  std::vector<std::uint32_t> tasks(count);
  std::iota(tasks.begin(), tasks.end(), 0U);
  std::ranges::stable_sort(
      tasks, {}, [&](std::uint32_t i) { return std::pair(events.start_ps[i], depth[i]); });
  return tasks;
}

std::vector<TimelineResource> resources_of(const events::TaskGraph& graph,
                                           const events::EventList& events,
                                           const TimelineNames& names) {
  std::vector<TimelineResource> out;
  for (const std::string& stream : names.streams) out.push_back({.name = stream});
  for (const auto i : indices(graph.links())) {
    const auto link = static_cast<events::LinkIndex>(i);
    out.push_back({.name = names.links[i],
                   .is_link = true,
                   .bytes_per_s = graph.bytes_per_s(link),
                   .bytes = events.link_bytes[i],
                   .busy_ps = events.link_busy_ps[i]});
  }
  return out;
}

TimelineEvent event_of(const events::TaskGraph& graph, const events::EventList& events,
                       const TimelineNames& names, TaskIndex task) {
  const std::size_t i = events::at(task);
  const std::uint32_t label = names.label_of[i];
  TimelineEvent out{.start_ps = events.start_ps[i],
                    .end_ps = events.end_ps[i],
                    .bytes = graph.bytes(task),
                    .label = label,
                    .actor = as_uint32(graph.actor(task)),
                    .kind = graph.kind(task)};
  const Place place = graph.place(task);
  if (place.kind() == Place::Kind::stream) {
    out.resource = place.index();
    out.flops = names.flops[label];
    out.bytes = names.bytes[label];
  } else if (place.kind() == Place::Kind::path) {
    const auto path = graph.path(static_cast<events::PathIndex>(place.index()));
    out.resource = as_uint32(names.streams.size() + events::at(path.front().link));
  }
  return out;
}

}  // namespace

Timeline timeline_of(const events::TaskGraph& graph, const events::EventList& events,
                     const TimelineNames& names) {
  Timeline out{.actors = names.actors,
               .labels = names.labels,
               .resources = resources_of(graph, events, names),
               .makespan_ps = events.makespan_ps};
  const std::vector<std::uint32_t> order = order_of(events);
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const auto place_of = [&](TaskIndex task) {
    const auto i = as_uint32(events::at(task));
    return order.empty() ? i : place[i];
  };
  out.events.reserve(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = static_cast<TaskIndex>(order.empty() ? i : order[i]);
    TimelineEvent event = event_of(graph, events, names, task);
    const TaskIndex cause = events.cause[events::at(task)];
    if (cause != events::no_task) event.cause = place_of(cause);
    if (event.resource != TimelineEvent::none && !out.resources[event.resource].is_link) {
      out.resources[event.resource].busy_ps += event.end_ps - event.start_ps;
    }
    out.events.push_back(event);
  }
  for (const TaskIndex task : critical_path(events)) {
    out.events[place_of(task)].is_critical = true;
  }
  return out;
}

Timeline preceded_by(const Timeline& step, std::span<const OneTimePhase> phases,
                     TimelinePhase phase) {
  if (phases.empty()) return step;
  Timeline out = step;
  out.events.clear();
  std::vector<bool> computes(step.actors.size());
  for (const TimelineEvent& event : step.events) {
    computes[event.actor] = computes[event.actor] || event.kind == events::EventKind::kernel;
  }
  Picoseconds now = 0;
  std::uint32_t last = TimelineEvent::none;
  for (const OneTimePhase& one : phases) {
    const auto label = as_uint32(out.labels.size());
    out.labels.emplace_back(events::kind_name(one.kind));
    const Picoseconds end = now + events::picoseconds(one.seconds);
    const auto first = as_uint32(out.events.size());
    for (std::uint32_t actor = 0; actor < computes.size(); ++actor) {
      if (!computes[actor]) continue;
      out.events.push_back({.start_ps = now,
                            .end_ps = end,
                            .label = label,
                            .actor = actor,
                            .cause = last,
                            .kind = one.kind,
                            .phase = phase,
                            .is_critical = out.events.size() == first});
    }
    last = first;
    now = end;
  }
  const auto before = as_uint32(out.events.size());
  for (TimelineEvent event : step.events) {
    event.start_ps += now;
    event.end_ps += now;
    event.cause = event.cause == TimelineEvent::none ? last : event.cause + before;
    out.events.push_back(event);
  }
  out.makespan_ps += now;
  return out;
}

Picoseconds step_begin_ps(const Timeline& timeline) {
  Picoseconds out = 0;
  for (const TimelineEvent& event : timeline.events) {
    if (event.phase == TimelinePhase::one_time) out = std::max(out, event.end_ps);
  }
  return out;
}

}  // namespace halmark::simulate
