// halmark simulate: what its subcommands share. Each has a file and a line in simulate.cpp.
#pragma once

#include "cli/model/model_options.hpp"
#include "simulate/schedule/step_power.hpp"

namespace halmark::cli {

struct SimulateOptions {
  ModelOptions model;
  schedule::SimulationOptions simulation;
  schedule::PowerOptions power;
  std::optional<int> shards;
  std::vector<std::string> latency, one_time;
  std::string order = "1f1b", perfetto, events, otlp;
  bool has_messages = false, joins_kernels = false, waits_with_gradients = false;
};
void add_simulate_options(OptionSet& app, SimulateOptions& options);
CommandResult simulated_step(const GlobalOptions& global, SimulateOptions options);

Action add_simulate_step(OptionSet& app);
Action add_simulate_training(OptionSet& app);
Action add_simulate_serving(OptionSet& app);
Action add_simulate_plan(OptionSet& app);

}  // namespace halmark::cli
