// Devices known by datasheet: their list, and the judgement of their figures.
#pragma once

#include <string>
#include <vector>

#include "cli/console/command.hpp"

namespace halmark::cli {

// halmark devices --known: every figure with its source and confidence.
CommandResult known_devices_result();

// halmark doctor --devices [FILE|DIR ...]: one line per finding; exit 3 when one is an error.
// Without paths, the files of configs/devices.
CommandResult lint_devices_result(const std::vector<std::string>& paths);

}  // namespace halmark::cli
