// halmark simulate: subcommands by name; without one, a step.
#include <array>

#include "cli/simulate/simulate.hpp"

namespace halmark::cli {

Action add_simulate(OptionSet& app) {
  static constexpr std::array table = {
      Command{"step", "A step of prefill or decode", add_simulate_step},
      Command{"training", "A training step: 1F1B, interleaved or zero-bubble",
              add_simulate_training},
      Command{"serving", "A stream of requests on a server's engines", add_simulate_serving},
      Command{"plan", "Shards of a model: layouts, tensors, stages, what they exchange",
              add_simulate_plan},
  };
  std::vector<std::pair<OptionSet, Action>> actions;
  for (const Command& command : table) {
    OptionSet sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    actions.emplace_back(sub, command.add(sub));
  }
  const Action bare = add_simulate_step(app);
  app.allow_no_subcommand();
  return [actions, bare](const GlobalOptions& global) {
    for (const auto& [sub, action] : actions) {
      if (sub.is_chosen()) return action(global);
    }
    return bare(global);
  };
}

}  // namespace halmark::cli
