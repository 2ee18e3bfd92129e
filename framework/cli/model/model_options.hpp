// What `halmark model` is asked on the command line, and the step that it describes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console/facts.hpp"
#include "model/step/priced_step.hpp"
#include "model/training/training_words.hpp"
#include "pages/step/kernel_section.hpp"

namespace halmark::cli {

struct ModelOptions {
  std::string model;
  DeploymentOptions configuration;
  TrainingWords training;
  int cp = 1;
  bool fused_qkv = false;
  std::string device, fabric;
  std::vector<std::string> latency;  // sources of times, beside bounds
  StepQuestion
      question;  // --delta-chunk, --mtp, --convention, --measured-ms and what goes with them
  pages::MeasuredKernels kernels;
  std::optional<std::int64_t> devices;
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
// Throws Error (exit 2) for options that contradict each other or name something unknown.
PricedStep priced_step(const ModelOptions& options);

}  // namespace halmark::cli
