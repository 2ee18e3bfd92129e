// halmark simulate: its subcommands. Each has a file and a line in simulate.cpp.
#pragma once

#include "cli/console/command.hpp"

namespace halmark::cli {

Action add_simulate_step(OptionSet& app);
Action add_simulate_training(OptionSet& app);
Action add_simulate_serving(OptionSet& app);
Action add_simulate_plan(OptionSet& app);

}  // namespace halmark::cli
