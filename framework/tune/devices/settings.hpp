// Every setting that holds for all commands: its value here, and who said so.
#pragma once

#include <string>
#include <vector>

#include "report/views/view.hpp"

namespace halmark::tune {

// Of the command line; empty = not given.
struct StatedSettings {
  std::string db, color, progress, worker_memory;
  std::vector<std::string> plugins, phase_limits;
};

// Writes nothing. Throws Error (exit 2) for a value that every command refuses.
report::View settings_view(const StatedSettings& stated);

}  // namespace halmark::tune
