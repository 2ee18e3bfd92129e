// What `halmark model` works on and how its page is put together: options, the priced step, and the
// sections. A new section is one line of the table in model.cpp: its JSON and its text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console/facts.hpp"
#include "cli/model/model_kernels.hpp"
#include "model/step/priced_step.hpp"

namespace halmark::cli {

// Of phase training; refused for the others.
struct TrainingOptions {
  std::optional<std::string> recompute, optimizer, gradients, loss;
  std::optional<int> zero;
  std::optional<std::int64_t> lora_rank, micro_batch;
  bool sequence_parallel = false;
};

struct ModelOptions {
  std::string model;
  DeploymentOptions configuration;
  TrainingOptions training;
  int cp = 1;
  bool fused_qkv = false;
  std::string device;
  StepQuestion
      question;  // --delta-chunk, --mtp, --convention, --measured-ms and what goes with them
  KernelOptions kernels;
  std::optional<std::int64_t> devices;
  std::string explain;  // an operator
  bool list = false;
};

struct ModelPage {
  ModelOptions options;
  PricedStep step;
};

void add_model_options(OptionSet& app, ModelOptions& options);
// Throws Error (exit 2) for options that contradict each other or name something unknown.
ModelPage priced_page(const ModelOptions& options);

// Measured layers and kernels. Throws Error (exit 2) for tables that cannot be read or contradict
// the graph.
report::View kernels_view(const ModelPage& page);

// Lines of the other sections; empty where one has nothing to say.
std::string summary_text(const ModelPage& page);
std::string operators_text(const ModelPage& page);
std::string totals_text(const ModelPage& page);
std::string training_text(const ModelPage& page);
std::string fit_text(const ModelPage& page);
std::string mfu_text(const ModelPage& page);
std::string notes_text(const ModelPage& page);  // assumed inputs and warnings
std::string experts_text(const ModelPage& page);
std::string recurrence_text(const ModelPage& page);
std::string speculation_text(const ModelPage& page);
std::string explain_text(const ModelPage& page);

}  // namespace halmark::cli
