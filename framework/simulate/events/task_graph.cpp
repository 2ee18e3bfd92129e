#include "simulate/events/task_graph.hpp"

#include <cmath>

#include "core/lists.hpp"
#include "core/text/enum_names.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::events {
namespace {

constexpr double seconds_max = 9e5;  // sums of many stay below 2^63 ps

constexpr auto kind_names =
    enum_names<EventKind>("boot", "discover", "probe", "compile", "plan", "place", "dispatch",
                          "kernel", "collective", "p2p", "rebalance", "evict", "emit", "done");

}  // namespace

Picoseconds picoseconds(double seconds) {
  if (!(seconds >= 0 && seconds <= seconds_max)) {
    throw refused("a time of " + number_text(seconds) + " s in a simulation", {},
                  "from 0 to " + number_text(seconds_max) + " s are possible");
  }
  return std::llround(seconds * 1e12);
}

std::string_view kind_name(EventKind kind) { return kind_names.of(kind); }

StreamIndex TaskGraph::add_stream(StreamOrder order) {
  orders_.push_back(order);
  return static_cast<StreamIndex>(orders_.size() - 1);
}

LinkIndex TaskGraph::add_link(double bytes_per_s) {
  if (!(std::isfinite(bytes_per_s) && bytes_per_s > 0)) {
    throw refused("a link of " + number_text(bytes_per_s) + " bytes/s in a simulation", {},
                  "its bandwidth has to be above 0");
  }
  rates_.push_back(bytes_per_s);
  return static_cast<LinkIndex>(rates_.size() - 1);
}

PathIndex TaskGraph::add_path(std::span<const Hop> hops) {
  if (hops.empty()) throw refused("a path without links in a simulation");
  append_all(hops_, hops);
  path_begin_.push_back(as_uint32(hops_.size()));
  return static_cast<PathIndex>(path_begin_.size() - 2);
}

TaskIndex TaskGraph::add(const Task& task) {
  if (task.duration_ps < 0 || !(std::isfinite(task.bytes) && task.bytes >= 0)) {
    throw refused("an event of " + number_text(seconds_of(task.duration_ps)) + " s and " +
                      number_text(task.bytes) + " bytes in a simulation",
                  {}, "both have to be numbers from 0 on");
  }
  works_.push_back({task.duration_ps, task.bytes, task.place, task.priority});
  kinds_.push_back(task.kind);
  actors_.push_back(task.actor);
  return static_cast<TaskIndex>(works_.size() - 1);
}

void TaskGraph::reserve(std::size_t tasks, std::size_t waits) {
  works_.reserve(tasks);
  kinds_.reserve(tasks);
  actors_.reserve(tasks);
  waits_.reserve(waits);
}

}  // namespace halmark::events
