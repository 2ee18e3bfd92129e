// Facts that several commands look up: known devices, the measured device file, the database, a
// deployment from the command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console/command.hpp"
#include "core/device.hpp"
#include "core/input/places.hpp"
#include "options/option_set.hpp"
#include "plan/precision.hpp"
#include "tune/plan/asked_nodes.hpp"
#include "tune/plan/deployment_options.hpp"

namespace halmark::cli {

// A device of configs/devices by id or alias, or the path of a device file (*.toml). Throws Error
// (exit 2) with the nearest names.
Device known_device(const std::string& id);

// Those of every command.
void add_global_options(OptionSet& app, GlobalOptions& options);

using tune::DeploymentOptions;
// What a step works on and how it is split; then how experts are used and in which types, too.
// Returns those of the first.
std::vector<Option> add_layout_options(OptionSet& app, DeploymentOptions& options);
void add_deployment_options(OptionSet& app, DeploymentOptions& options);
// --mpi-hosts ("`what` these nodes of one MPI job") and --mpi-listen.
void add_node_options(OptionSet& app, tune::AskedNodes& nodes, const std::string& what);

// Sources of times of a known device: see tune::default_sources.
Option add_latency_option(OptionSet& app, std::vector<std::string>& sources);

// --gate: of verdicts, exit 3 with a SLOWER or FAILED and 0 without.
Value<bool> add_gate_option(OptionSet& app);

std::string database_path(const GlobalOptions& options);  // a writer creates its folder
// Where files lie that go with it: beside it, or of a server's beside the default one.
std::string files_beside(const GlobalOptions& options);

}  // namespace halmark::cli
