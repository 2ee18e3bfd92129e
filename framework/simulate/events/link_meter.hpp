// What passed over each link, and for how long something did.
#pragma once

#include <algorithm>
#include <cmath>

#include "simulate/events/simulation.hpp"

namespace halmark::events {

class LinkMeter {
 public:
  LinkMeter(const TaskGraph& graph, EventList& events, bool records_loads)
      : events_(events),
        present_(graph.links()),
        since_(graph.links()),
        records_loads_(records_loads) {
    events.link_bytes.assign(graph.links(), 0);
    events.link_busy_ps.assign(graph.links(), 0);
  }

  void enter(LinkIndex link, Picoseconds now) {
    if (present_[at(link)]++ == 0) since_[at(link)] = now;
  }
  void leave(LinkIndex link, Picoseconds now, double bytes) {
    events_.link_bytes[at(link)] += bytes;
    if (--present_[at(link)] == 0) events_.link_busy_ps[at(link)] += now - since_[at(link)];
  }
  void load(LinkIndex link, Picoseconds now, double bytes_per_s) {
    if (records_loads_) events_.loads.push_back({now, link, bytes_per_s});
  }

 private:
  EventList& events_;
  std::vector<std::uint32_t> present_;
  std::vector<Picoseconds> since_;
  bool records_loads_;
};

// Rates inside the engine: bytes a picosecond.
inline constexpr double ps_per_s = 1e12;

// Of a simulation, and of a message.
inline constexpr Picoseconds longest_ps = 4'000'000'000'000'000'000;

// When `bytes` more have passed, to the picosecond after; within what 64 bits hold.
inline Picoseconds time_after(Picoseconds now, double bytes, double bytes_per_ps) {
  const double wait = bytes > 0 ? std::ceil(bytes / bytes_per_ps) : 0;
  return now + static_cast<Picoseconds>(std::min(wait, static_cast<double>(longest_ps)));
}

}  // namespace halmark::events
