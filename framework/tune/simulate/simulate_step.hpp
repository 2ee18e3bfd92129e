// A step simulated over a named fabric, with times from the sources that a user names. The one call
// that `halmark simulate step` and `training` make.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simulate/schedule/step_power.hpp"
#include "simulate/schedule/step_simulation.hpp"
#include "tune/evaluate/step/step_latencies.hpp"

namespace halmark::tune {

struct StepSimulating {
  std::string fabric;                 // an id, or a file
  std::vector<std::string> latency;   // sources: see StepLatencies
  std::vector<std::string> one_time;  // see schedule::one_time_phases
  // Files to write; "" = none. otlp: or http://HOST:PORT of a collector. All have the executed step
  // beside the simulated one, where the journal has it.
  std::string perfetto, events, otlp;
  std::string order = "1f1b";  // of training: a name of schedule::training_order_names()
  bool has_messages = false, joins_kernels = false, waits_with_gradients = false;
  schedule::PowerOptions power;
  schedule::SimulationOptions options;  // without what the words above say
};

struct SimulatedStep {
  fabric::Topology topology;
  schedule::StepSimulation simulation;
  std::optional<schedule::StepPower> power;  // nothing: the device states none
  std::vector<std::string> sources;          // of times, one line each
  std::optional<StepRun> run;                // of this configuration, where the journal has it
  std::optional<StepEngine> engine;          // around the step, with the host's time in it
};

// What was simulated, without files and what happens once.
struct StepOutcome {
  schedule::StepSimulation simulation;
  std::optional<schedule::StepPower> power;
};

// The same step of times that are at hand. `asked`: without fabric, latency, one_time and files.
// `engine`: around it; null = kernels alone. `begins`: as below; may throw where that is too long.
// Refers to step and site while it runs.
StepOutcome simulate_timed(const PricedStep& step, const schedule::Site& site,
                           const schedule::TimeSources& times, const StepSimulating& asked,
                           const std::function<void(double events, int runs)>& begins,
                           const StepEngine* engine = nullptr);

// `begins`: told before it starts, of how many events and how many runs of as many with drawn
// times. Throws Error (exit 2) for what is unknown or too long, and (exit 1) of a file that cannot
// be written, or a collector that does not take it.
SimulatedStep simulate_step(const PricedStep& step, const StepSimulating& asked,
                            const Folders& devices, const Folders& fabrics,
                            const std::function<void(double events, int runs)>& begins);

}  // namespace halmark::tune
