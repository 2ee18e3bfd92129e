// halmark simulate: what a plan does, event by event.
#include "cli/simulate/simulate.hpp"

namespace halmark::cli {

Action add_simulate(OptionSet& app) {
  OptionSet plan =
      app.add_subcommand("plan", "Shards of a model: layouts, tensors, stages, what they exchange");
  return add_simulate_plan(plan);
}

}  // namespace halmark::cli
