#include "simulate/power/timeline_power.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark::power {
namespace {

using events::Picoseconds;

// A kernel begins or ends to draw power.
struct Turn {
  Picoseconds time_ps = 0;
  std::uint32_t actor = 0;
  double above_idle_w = 0;  // negative at its end
};

struct Span {
  Picoseconds begin_ps = 0, end_ps = 0;
};

Span span_of(const simulate::Timeline& timeline, simulate::TimelinePhase phase) {
  Span out;
  bool is_first = true;
  for (const simulate::TimelineEvent& e : timeline.events) {
    if (e.phase != phase) continue;
    out.begin_ps = is_first ? e.start_ps : std::min(out.begin_ps, e.start_ps);
    out.end_ps = is_first ? e.end_ps : std::max(out.end_ps, e.end_ps);
    is_first = false;
  }
  return out;
}

std::vector<Turn> turns_of(const simulate::Timeline& timeline, const DeviceOf& device_of,
                           simulate::TimelinePhase phase) {
  std::vector<Turn> out;
  for (const simulate::TimelineEvent& e : timeline.events) {
    if (e.phase != phase || e.kind != events::EventKind::kernel || e.end_ps <= e.start_ps) continue;
    const PoweredDevice* device = device_of(e.actor);
    if (device == nullptr) continue;
    const double watts =
        power_w(device->model,
                activity_of(e.flops, e.bytes, events::seconds_of(e.end_ps - e.start_ps),
                            device->flops_per_s, device->bytes_per_s)) -
        device->model.idle_w;
    out.push_back({e.start_ps, e.actor, watts});
    out.push_back({e.end_ps, e.actor, -watts});
  }
  std::ranges::stable_sort(out, {}, &Turn::time_ps);
  return out;
}

}  // namespace

PowerUse power_use(const simulate::Timeline& timeline, const DeviceOf& device_of,
                   simulate::TimelinePhase phase) {
  PowerUse out;
  double idle_w = 0;
  for (std::uint32_t actor = 0; actor < timeline.actors.size(); ++actor) {
    if (const PoweredDevice* device = device_of(actor)) {
      idle_w += device->model.idle_w;
      ++out.devices;
    }
  }
  const Span span = span_of(timeline, phase);
  out.seconds = events::seconds_of(span.end_ps - span.begin_ps);
  out.idle_j = idle_w * out.seconds;
  std::unordered_map<std::uint32_t, double> asked_w;  // by actor, before its limit
  double above_w = 0;                                 // of all, within limits
  const auto within = [&](std::uint32_t actor) {
    const PowerModel& model = device_of(actor)->model;
    return std::clamp(asked_w[actor], 0.0, model.limit_w - model.idle_w);
  };
  out.steps.push_back({span.begin_ps, idle_w});
  out.peak_w = idle_w;
  const std::vector<Turn> turns = turns_of(timeline, device_of, phase);
  for (std::size_t i = 0; i < turns.size();) {
    const Picoseconds now = turns[i].time_ps;
    out.busy_j += above_w * events::seconds_of(now - out.steps.back().time_ps);
    for (; i < turns.size() && turns[i].time_ps == now; ++i) {
      above_w -= within(turns[i].actor);
      asked_w[turns[i].actor] += turns[i].above_idle_w;
      above_w += within(turns[i].actor);
    }
    above_w = std::max(above_w, 0.0);
    if (out.steps.back().time_ps == now) out.steps.pop_back();
    out.steps.push_back({now, idle_w + above_w});
    out.peak_w = std::max(out.peak_w, idle_w + above_w);
  }
  out.mean_w = out.seconds > 0 ? out.energy_j() / out.seconds : idle_w;
  return out;
}

BudgetUse budget_use(const PowerUse& use, double budget_w, double limits_w) {
  if (!(budget_w > 0)) throw refused("a budget of power is above 0 W");
  if (use.devices == 0) throw refused("no device states its power: nothing to budget");
  BudgetUse out{.budget_w = budget_w,
                .oversubscription = limits_w / budget_w,
                .cap_w = budget_w / as_double(use.devices)};
  if (use.steps.empty() || use.seconds <= 0) return out;
  const Picoseconds end = use.steps.front().time_ps + events::picoseconds(use.seconds);
  Picoseconds above = 0;
  for (const auto i : indices(use.steps)) {
    const Picoseconds next = i + 1 < use.steps.size() ? use.steps[i + 1].time_ps : end;
    if (use.steps[i].watts > budget_w) above += next - use.steps[i].time_ps;
  }
  out.time_share_above = events::seconds_of(above) / use.seconds;
  return out;
}

}  // namespace halmark::power
