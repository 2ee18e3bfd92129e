// halmark simulate training: the schedules of pipelines.
#include "cli/simulate/simulate.hpp"

namespace halmark::cli {

Action add_simulate_training(OptionSet& app) {
  auto options = std::make_shared<SimulateOptions>();
  options->model.configuration.phase = "training";
  add_simulate_options(app, *options);
  app.add_option("--schedule", options->order, "Order of passes in a pipeline")
      ->check(one_of({"1f1b", "interleaved", "zero-bubble"}));
  app.add_option("--virtual-stages", options->simulation.program.chunks,
                 "With interleaved: chunks of layers of each stage (default 2)")
      ->check(within(0, 1024));
  app.add_flag("--no-overlap", options->waits_with_gradients,
               "Gradients are reduced after the last backward pass, not layer by layer");
  return [options](const GlobalOptions& global) { return simulated_step(global, *options); };
}

}  // namespace halmark::cli
