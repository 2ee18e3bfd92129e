// halmark simulate: its subcommands. Each has a file and a line in simulate.cpp.
#pragma once

#include "cli/console/command.hpp"

namespace halmark::cli {

AddCommand add_simulate_step, add_simulate_training, add_simulate_serving, add_simulate_plan;

}  // namespace halmark::cli
