// What `halmark model` is asked on the command line, and the step that it describes.
#pragma once

#include <string>
#include <vector>

#include "cli/console/facts.hpp"
#include "pages/step/kernel_section.hpp"
#include "plan/asked_sweep.hpp"
#include "plan/served_sweep.hpp"
#include "tune/requests/served_request.hpp"

namespace halmark::cli {

struct ModelOptions : tune::StepRequest {
  pages::MeasuredKernels kernels;
  tune::ServedRequest load;
  std::vector<std::string> what_if;  // ceilings of the device that change
  bool is_explained = false;
  std::string explain;      // an operator or a word; "" = all of them
  std::string json_schema;  // "reference", or "" for ours
  bool shows_all = false;
  bool list = false;
};

// Returns --explain, which may stand alone.
Option add_model_options(OptionSet& app, ModelOptions& options);
// Those that say what the step is and takes, and nothing of its memory, what is shown or was
// measured.
void add_step_options(OptionSet& app, ModelOptions& options);
// Requests to a model and their levels: --input to --tpot, as `tune` has them.
std::vector<Option> add_request_options(OptionSet& app, AskedSweep& asked);
// --slo, --ttft and --tpot of a load.
void add_level_options(OptionSet& app, StatedLevels& levels);
tune::StepFolders step_folders();

}  // namespace halmark::cli
