#include "profile/trace/row_table.hpp"

#include <algorithm>
#include <set>

#include "core/text/error.hpp"

namespace halmark::trace {

std::size_t RowTable::Hash::operator()(const Key& key) const {
  const std::uint64_t a = std::uint64_t{key.pass} << 32 | key.scope;
  const std::uint64_t b = std::uint64_t{key.name} << 32 | key.arguments;
  std::uint64_t x = a * 0x9e3779b97f4a7c15u ^ (b + 0x7f4a7c159e3779b9u) * 0xbf58476d1ce4e5b9u;
  return static_cast<std::size_t>(x ^ x >> 29);
}

std::uint32_t RowTable::row(std::uint32_t pass, std::uint32_t scope, std::uint32_t name,
                            std::uint32_t arguments, OperatorClass of) {
  const auto [it, is_new] =
      index_.try_emplace({pass, scope, name, arguments}, static_cast<std::uint32_t>(rows_.size()));
  if (is_new) {
    rows_.push_back({.pass = pass, .scope = scope, .name = name, .arguments = arguments, .of = of});
  }
  return it->second;
}

namespace {

// What one capture put into its graph, in order.
struct Capture {
  std::vector<Launch> launches;
  bool is_bracketed = false;
  bool is_uncounted = false;
};

class Linker {
 public:
  Linker(Recording& recording, const std::vector<Launch>& launches, RowTable& rows)
      : recording_(recording), launches_(launches), rows_(rows) {
    std::ranges::sort(recording.device_events, {}, &DeviceEvent::correlation);
    for (std::uint32_t i = 0; i < launches.size(); ++i) {
      if (launches[i].correlation != absent)
        by_correlation_.push_back({launches[i].correlation, i});
    }
    std::ranges::sort(by_correlation_);
  }

  DeviceTime link(const std::unordered_map<std::uint32_t, std::uint32_t>& external_rows) {
    find_captures();
    const auto& events = recording_.device_events;
    for (std::size_t begin = 0; begin < events.size();) {
      std::size_t end = begin;
      const std::uint32_t correlation = events[begin].correlation;
      do ++end;
      while (end < events.size() && correlation != absent &&
             events[end].correlation == correlation);
      for (std::size_t i = begin; i < end; ++i) {
        time_.total_ns += events[i].duration_ns;
        ++time_.kernels;
      }
      const Launch* launch = launch_of(correlation);
      if (launch != nullptr && launch->kind == Launch::Kind::graph) {
        replay(*launch, begin, end);
      } else {
        for (std::size_t i = begin; i < end; ++i) plain(launch, events[i], external_rows);
      }
      begin = end;
    }
    recording_.device_events.clear();
    return time_;
  }

 private:
  struct Numbered {
    std::uint32_t correlation, launch;
    auto operator<=>(const Numbered&) const = default;
  };

  const Launch* launch_of(std::uint32_t correlation) const {
    if (correlation == absent) return nullptr;
    const auto it =
        std::ranges::lower_bound(by_correlation_, correlation, {}, &Numbered::correlation);
    if (it == by_correlation_.end() || it->correlation != correlation) return nullptr;
    return &launches_[it->launch];
  }

  bool ran(std::uint32_t correlation) const {
    return std::ranges::binary_search(recording_.device_events, correlation, {},
                                      &DeviceEvent::correlation);
  }

  // Launches that ran nothing were recorded into a graph: those between the calls that bracket a
  // capture or, where the trace lacks these calls, every unbroken run of them.
  void find_captures() {
    const bool has_graphs = std::ranges::any_of(launches_, [](const Launch& l) {
      return l.kind == Launch::Kind::graph || l.kind == Launch::Kind::capture_begin;
    });
    if (!has_graphs) return;  // a launch without a kernel is one that the profiler lost
    Capture current;
    const auto close = [&] {
      if (!current.launches.empty()) {
        if (current.is_bracketed) uncount(current);
        captures_.push_back(std::move(current));
      }
      current = {};
    };
    for (const Launch& launch : launches_) {
      switch (launch.kind) {
        case Launch::Kind::capture_begin:
          close();
          current.is_bracketed = true;
          break;
        case Launch::Kind::capture_end:
        case Launch::Kind::graph:
          close();
          break;
        case Launch::Kind::plain:
          if (!ran(launch.correlation)) {
            current.launches.push_back(launch);
          } else if (!current.is_bracketed) {
            close();
          }
      }
    }
    close();
  }

  // A captured operator has not run yet. Without the brackets only a replay proves the capture.
  void uncount(Capture& capture) {
    if (capture.is_uncounted) return;
    capture.is_uncounted = true;
    std::uint32_t last_row = absent, last_execution = absent;
    for (const Launch& launch : capture.launches) {
      if (launch.row == absent) continue;
      if (launch.row == last_row && launch.execution == last_execution) continue;
      last_row = launch.row;
      last_execution = launch.execution;
      OperatorRow& row = rows_[launch.row];
      if (row.count > 0) --row.count;
      ++row.captured;
    }
  }

  void give(std::uint32_t row, const DeviceEvent& event) {
    rows_[row].device_ns += event.duration_ns;
    ++rows_[row].kernels;
    time_.assigned_ns += event.duration_ns;
  }

  void plain(const Launch* launch, const DeviceEvent& event,
             const std::unordered_map<std::uint32_t, std::uint32_t>& external_rows) {
    if (launch != nullptr && launch->row != absent) return give(launch->row, event);
    if (launch != nullptr) {
      // Compiled code launches its kernels itself: the kernel is the operator.
      const std::uint32_t row =
          rows_.row(launch->pass, launch->scope, event.name, absent, OperatorClass::unknown);
      ++rows_[row].count;
      return give(row, event);
    }
    const auto it = external_rows.find(event.external_id);
    if (event.external_id != absent && it != external_rows.end()) return give(it->second, event);
    time_.unlinked_ns += event.duration_ns;
  }

  // Captures of that many launches; those that recorded the same operators are one.
  Capture* capture_of(std::size_t launches) {
    Capture* found = nullptr;
    for (Capture& capture : captures_) {
      if (capture.launches.size() != launches) continue;
      if (found != nullptr && !has_same_operators(*found, capture)) {
        time_.replay_reason = "several captures of " + std::to_string(launches) +
                              " launches recorded different operators";
        return nullptr;
      }
      if (found == nullptr) found = &capture;
    }
    if (found == nullptr) {
      time_.replay_reason =
          "no capture of " + std::to_string(launches) + " launches is in the trace";
    }
    return found;
  }

  bool has_same_operators(const Capture& a, const Capture& b) {
    return std::ranges::equal(a.launches, b.launches, [&](const Launch& x, const Launch& y) {
      if (x.row == absent || y.row == absent) return x.row == y.row && x.scope == y.scope;
      const OperatorRow &r = rows_[x.row], &s = rows_[y.row];
      return r.scope == s.scope && r.name == s.name && r.arguments == s.arguments;
    });
  }

  // The nth node of a graph is the nth launch of its capture.
  void replay(const Launch& launch, std::size_t begin, std::size_t end) {
    ++time_.replays;
    std::vector<DeviceEvent> events(
        recording_.device_events.begin() + static_cast<std::ptrdiff_t>(begin),
        recording_.device_events.begin() + static_cast<std::ptrdiff_t>(end));
    const bool has_nodes = std::ranges::none_of(
        events, [](const DeviceEvent& event) { return event.graph_node == absent; });
    if (has_nodes) {
      std::ranges::stable_sort(events, {}, &DeviceEvent::graph_node);
    } else {
      std::ranges::stable_sort(events, {}, &DeviceEvent::begin_ns);
    }
    Capture* capture = capture_of(events.size());
    if (capture == nullptr) {
      ++time_.unexplained_replays;
      for (const DeviceEvent& event : events) time_.ambiguous_ns += event.duration_ns;
      return;
    }
    uncount(*capture);
    std::set<std::pair<std::uint32_t, std::uint32_t>> executed;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Launch& from = capture->launches[i];
      const bool is_known = from.row != absent;
      const OperatorRow like = is_known ? rows_[from.row] : OperatorRow{};
      const std::uint32_t row =
          is_known
              ? rows_.row(launch.pass, like.scope, like.name, like.arguments, like.of)
              : rows_.row(launch.pass, from.scope, events[i].name, absent, OperatorClass::unknown);
      if (!is_known || executed.emplace(from.row, from.execution).second) {
        ++rows_[row].count;
      }
      give(row, events[i]);
    }
  }

  Recording& recording_;
  const std::vector<Launch>& launches_;
  RowTable& rows_;
  std::vector<Numbered> by_correlation_;
  std::vector<Capture> captures_;
  DeviceTime time_;
};

}  // namespace

DeviceTime link_device_events(Recording& recording, const std::vector<Launch>& launches,
                              const std::unordered_map<std::uint32_t, std::uint32_t>& external_rows,
                              RowTable& rows) {
  if (recording.device_events.empty()) return {};
  return Linker(recording, launches, rows).link(external_rows);
}

}  // namespace halmark::trace
