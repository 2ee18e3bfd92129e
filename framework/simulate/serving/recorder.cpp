#include "simulate/serving/recorder.hpp"

#include <algorithm>

namespace halmark::serving {

std::uint32_t Recorder::actor(const std::string& name) {
  timeline_.actors.push_back(name);
  return static_cast<std::uint32_t>(timeline_.actors.size() - 1);
}

std::uint32_t Recorder::resource(const std::string& name, double link_bytes_per_s) {
  timeline_.resources.push_back(
      {.name = name, .is_link = link_bytes_per_s > 0, .bytes_per_s = link_bytes_per_s});
  return static_cast<std::uint32_t>(timeline_.resources.size() - 1);
}

std::uint32_t Recorder::label(const std::string& text) {
  const auto [found, is_new] =
      labels_.try_emplace(text, static_cast<std::uint32_t>(timeline_.labels.size()));
  if (is_new) timeline_.labels.push_back(text);
  return found->second;
}

std::uint32_t Recorder::add(simulate::TimelineEvent event, const std::string& text) {
  if (!is_kept_) return none;
  event.label = label(text);
  if (event.resource != none) {
    auto& resource = timeline_.resources[event.resource];
    resource.busy_ps += event.end_ps - event.start_ps;
    if (resource.is_link) resource.bytes += event.bytes;
  }
  timeline_.events.push_back(event);
  return static_cast<std::uint32_t>(timeline_.events.size() - 1);
}

simulate::Timeline Recorder::take(events::Picoseconds makespan_ps) {
  timeline_.makespan_ps = makespan_ps;
  auto& all = timeline_.events;
  const auto last = std::ranges::find_if(all, [&](const simulate::TimelineEvent& e) {
    return e.end_ps == makespan_ps && e.resource != none;
  });
  for (auto at = last == all.end() ? none : static_cast<std::uint32_t>(last - all.begin());
       at != none; at = all[at].cause) {
    all[at].is_critical = true;
  }
  return std::move(timeline_);
}

}  // namespace halmark::serving
