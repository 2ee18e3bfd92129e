#include "simulate/timeline/timeline_folds.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/numeric/cast.hpp"
#include "simulate/timeline/timeline_of.hpp"

namespace halmark::simulate {

using events::EventKind;
using events::Picoseconds;

std::string_view without_layer(std::string_view label) {
  constexpr std::string_view word = "layer ";
  if (!label.starts_with(word)) return label;
  std::size_t at = word.size();
  while (at < label.size() && std::isdigit(static_cast<unsigned char>(label[at])) != 0) ++at;
  if (at == word.size() || at >= label.size() || label[at] != ' ') return label;
  return label.substr(at + 1);
}

bool is_communication(EventKind kind) {
  return kind == EventKind::collective || kind == EventKind::p2p;
}

std::vector<LabelFold> fold_by_label(const Timeline& timeline) {
  std::vector<LabelFold> out;
  std::map<std::pair<std::string_view, EventKind>, std::size_t> known;
  // By label and kind, so that names are compared once per label.
  std::vector<std::map<EventKind, std::size_t>> of_label(timeline.labels.size());
  for (const TimelineEvent& event : timeline.events) {
    if (event.kind == EventKind::dispatch) continue;
    const auto [at, is_new] = of_label[event.label].try_emplace(event.kind, 0);
    if (is_new) {
      const std::string_view name = without_layer(timeline.labels[event.label]);
      const auto [fold, is_first] = known.try_emplace({name, event.kind}, out.size());
      if (is_first) {
        out.push_back({.label = std::string(name),
                       .kind = event.kind,
                       .phase = event.phase,
                       .first_ps = event.start_ps});
      }
      at->second = fold->second;
    }
    LabelFold& fold = out[at->second];
    const Picoseconds time = event.end_ps - event.start_ps;
    ++fold.events;
    fold.busy_ps += time;
    if (event.is_critical) fold.critical_ps += time;
    fold.first_ps = std::min(fold.first_ps, event.start_ps);
    fold.last_ps = std::max(fold.last_ps, event.end_ps);
    fold.flops += event.flops;
    fold.bytes += event.bytes;
  }
  std::ranges::stable_sort(out, std::greater<>(), &LabelFold::busy_ps);
  return out;
}

CriticalParts critical_parts(const Timeline& timeline) {
  CriticalParts out;
  Picoseconds sum = 0;
  for (const TimelineEvent& event : timeline.events) {
    if (!event.is_critical) continue;
    const Picoseconds time = event.end_ps - event.start_ps;
    sum += time;
    if (event.phase == TimelinePhase::one_time) {
      out.one_time_ps += time;
    } else if (event.kind == EventKind::kernel) {
      out.compute_ps += time;
    } else if (is_communication(event.kind)) {
      out.communication_ps += time;
    } else {
      out.other_ps += time;
    }
  }
  out.gap_ps = timeline.makespan_ps - sum;
  return out;
}

namespace {

using Spans = std::vector<std::pair<Picoseconds, Picoseconds>>;

// Merges what overlaps; returns the length together.
Picoseconds merge(Spans& spans) {
  std::ranges::sort(spans);
  Spans out;
  Picoseconds sum = 0;
  for (const auto& [begin, end] : spans) {
    if (!out.empty() && begin <= out.back().second) {
      sum += std::max<Picoseconds>(0, end - out.back().second);
      out.back().second = std::max(out.back().second, end);
    } else if (end > begin) {
      out.push_back({begin, end});
      sum += end - begin;
    }
  }
  spans = std::move(out);
  return sum;
}

}  // namespace

DeviceParts device_parts(const Timeline& timeline) {
  struct Device {
    Spans compute, communication;
  };
  std::map<std::uint32_t, Device> devices;
  for (const TimelineEvent& event : timeline.events) {
    if (event.phase != TimelinePhase::step) continue;
    if (event.kind == EventKind::kernel) {
      devices[event.actor].compute.push_back({event.start_ps, event.end_ps});
    } else if (is_communication(event.kind)) {
      devices[event.actor].communication.push_back({event.start_ps, event.end_ps});
    }
  }
  DeviceParts out;
  const auto step = as_double(timeline.makespan_ps - step_begin_ps(timeline));
  for (auto& [actor, device] : devices) {
    if (device.compute.empty()) continue;
    ++out.devices;
    const auto compute = as_double(merge(device.compute));
    const auto communication = as_double(merge(device.communication));
    device.compute.insert(device.compute.end(), device.communication.begin(),
                          device.communication.end());
    const auto either = as_double(merge(device.compute));
    out.compute += compute;
    out.communication += either - compute;
    out.hidden_communication += communication - (either - compute);
  }
  if (out.devices == 0 || step <= 0) return out;
  const double all = step * as_double(out.devices);
  out.compute /= all;
  out.communication /= all;
  out.hidden_communication /= all;
  out.bubble = std::max(0.0, 1 - out.compute - out.communication);
  return out;
}

}  // namespace halmark::simulate
