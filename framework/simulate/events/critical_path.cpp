#include "simulate/events/critical_path.hpp"

#include <algorithm>

namespace halmark::events {

std::vector<TaskIndex> critical_path(const EventList& events) {
  std::vector<TaskIndex> out;
  const auto last = std::ranges::find(events.end_ps, events.makespan_ps);
  if (last == events.end_ps.end()) return out;
  auto task = static_cast<TaskIndex>(last - events.end_ps.begin());
  for (; task != no_task; task = events.cause[at(task)]) out.push_back(task);
  std::ranges::reverse(out);
  return out;
}

}  // namespace halmark::events
