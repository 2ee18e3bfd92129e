// Power and energy of a timeline: every device idles, and draws more while its kernels execute.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simulate/power/power_model.hpp"
#include "simulate/timeline/timeline.hpp"

namespace halmark::power {

// What an actor of the timeline is; nothing for hosts, switches and links, which are left out.
struct PoweredDevice {
  PowerModel model;
  double flops_per_s = 0, bytes_per_s = 0;  // the peaks that shares are of; 0: no such share
};
using DeviceOf = std::function<const PoweredDevice*(std::uint32_t actor)>;

// What all devices draw from `time_ps` on.
struct PowerStep {
  events::Picoseconds time_ps = 0;
  double watts = 0;
};

struct PowerUse {
  std::size_t devices = 0;
  double seconds = 0;  // of the part that is asked
  double idle_j = 0, busy_j = 0;
  double mean_w = 0, peak_w = 0;  // of all devices together
  std::vector<PowerStep> steps;   // by time; each lasts to the next, the last to the end
  double energy_j() const { return idle_j + busy_j; }
};

// Of the events of `phase`, from the first's begin to the last one's end. A device whose streams
// work at once draws the sum, at most its limit.
PowerUse power_use(const simulate::Timeline& timeline, const DeviceOf& device_of,
                   simulate::TimelinePhase phase = simulate::TimelinePhase::step);

// A budget that devices share: which share of the time they would draw more, and what is left for
// each where all are capped alike.
struct BudgetUse {
  double budget_w = 0;
  double oversubscription = 0;  // limits of all devices over the budget
  double time_share_above = 0;
  double cap_w = 0;  // of one device
};
BudgetUse budget_use(const PowerUse& use, double budget_w, double limits_w);

}  // namespace halmark::power
