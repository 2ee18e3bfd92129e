// Power, energy and carbon of a simulated step, and what caps make of its kernels.
#pragma once

#include <optional>
#include <string>

#include "core/json/json_type.hpp"
#include "model/step/priced_step.hpp"
#include "simulate/power/carbon.hpp"
#include "simulate/power/timeline_power.hpp"
#include "simulate/schedule/step_simulation.hpp"

namespace halmark::schedule {

struct PowerOptions {
  std::optional<double> cap_w;     // of each device
  std::optional<double> budget_w;  // of all devices together: a cap of an equal part for each
  power::CarbonQuestion carbon;
  // The lower of both caps.
  std::optional<double> cap_of_device_w(std::size_t devices) const;
};

struct StepPower {
  power::PowerModel model;  // of one device
  power::PowerUse use;
  std::optional<double> cap_w;             // that kernels were slowed for
  std::optional<power::BudgetUse> budget;  // of the step as it is shown
  power::Carbon carbon;                    // of one step
  double tokens = 0;                       // of one step
  double j_per_token() const { return use.energy_j() / tokens; }
};

// What the device of the step draws; nothing where none is named or it states no power.
std::optional<power::PowerModel> power_model_of(const PricedStep& step);

// A kernel under the caps: longer by what the lower clock costs it. Throws Error (exit 2) where
// the device draws more than the cap while it idles.
std::optional<Latency> under_caps(std::optional<Latency> latency, const Operator& op,
                                  const PricedStep& step, const PowerOptions& options);

// Of the devices of the timeline; nothing where their power is unknown.
std::optional<StepPower> step_power(const PricedStep& step, const StepSimulation& simulation,
                                    const PowerOptions& options);

Json power_json(const std::optional<StepPower>& power);

}  // namespace halmark::schedule
