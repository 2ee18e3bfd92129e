// The subcommands of halmark simulate, one file each.
#pragma once

#include "cli/console/command.hpp"
#include "cli/console/option_set.hpp"

namespace halmark::cli {

Action add_simulate_plan(OptionSet& app);

}  // namespace halmark::cli
