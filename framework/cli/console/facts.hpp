// Facts that several commands look up: known devices, the measured device file, the database, a
// deployment from the command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console/command.hpp"
#include "core/device.hpp"
#include "core/input/places.hpp"
#include "options/shared_options.hpp"

namespace halmark::cli {

// A device of configs/devices by id or alias, or the path of a device file (*.toml). Throws Error
// (exit 2) with the nearest names.
Device known_device(const std::string& id);

// Those of every command.
void add_global_options(OptionSet& app, GlobalOptions& options);
using tune::DeploymentOptions;

std::string database_path(const GlobalOptions& options);  // a writer creates its folder
// Where files lie that go with it: beside it, or of a server's beside the default one.
std::string files_beside(const GlobalOptions& options);

}  // namespace halmark::cli
