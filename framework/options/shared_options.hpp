// Options that several commands share become values here, so that the same words mean the same in
// all of them.
#pragma once

#include <string>
#include <vector>

#include "options/option_set.hpp"
#include "plan/asked_sweep.hpp"
#include "plan/served_sweep.hpp"
#include "tune/plan/asked_nodes.hpp"
#include "tune/plan/deployment_options.hpp"
#include "tune/plan/kernel_cases.hpp"
#include "tune/requests/step_request.hpp"

namespace halmark {

// What a step works on and how it is split; then how experts are used and in which types, too.
// Returns those of the first.
std::vector<Option> add_layout_options(OptionSet& app, tune::DeploymentOptions& options);
void add_deployment_options(OptionSet& app, tune::DeploymentOptions& options);
// Those that say what a step is and takes, nothing of its memory, what is shown or was measured.
void add_step_options(OptionSet& app, tune::StepRequest& request);
// Requests to a model and their levels: --input to --tpot, as `tune` has them.
std::vector<Option> add_request_options(OptionSet& app, AskedSweep& asked);
// --slo, --ttft and --tpot of a load.
void add_level_options(OptionSet& app, StatedLevels& levels);
// --mpi-hosts ("`what` these nodes of one MPI job") and --mpi-listen.
void add_node_options(OptionSet& app, tune::AskedNodes& nodes, const std::string& what);

// Sources of times of a known device: see tune::default_sources.
Option add_latency_option(OptionSet& app, std::vector<std::string>& sources);

// --gate: of verdicts, exit 3 with a SLOWER or FAILED and 0 without.
Value<bool> add_gate_option(OptionSet& app);

// Which kernels two builds are compared on, read beside the option `with`.
void add_case_options(OptionSet& app, tune::CaseRequest& asked, const std::string& with);

}  // namespace halmark
