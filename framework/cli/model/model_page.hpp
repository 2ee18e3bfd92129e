// What `halmark model` works on and how its page is put together: options, the priced step, and the
// sections. A new section is one function and one line of the table in model.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "cli/model/model_kernels.hpp"
#include "model/graph/graph.hpp"
#include "model/pricing/memory.hpp"
#include "model/training/training.hpp"
#include "model/utilisation/convention.hpp"
#include "roofline/estimate.hpp"

namespace halmark::cli {

// Of phase training; refused for the others.
struct TrainingOptions {
  std::optional<std::string> recompute, optimizer, gradients;
  std::optional<int> zero;
  std::optional<std::int64_t> lora_rank, micro_batch;
  bool sequence_parallel = false;
};

struct ModelOptions {
  std::string model;
  DeploymentOptions configuration;
  TrainingOptions training;
  int cp = 1;
  StepForm form;  // --delta-chunk
  std::string device;
  std::string peak = "datasheet";
  std::optional<double> measured_ms;
  KernelOptions kernels;
  std::optional<std::int64_t> devices;
  std::int64_t drafted = 0;          // --mtp
  std::optional<double> acceptance;  // of a drafted token
  std::string convention;
  std::vector<std::string> switches;  // "attention=full"
  std::string explain;                // an operator
  bool list = false;
};

// One step of one deployment, priced.
struct ModelPage {
  ModelOptions options;
  OperatorGraph graph;
  MemoryUse memory;
  Convention convention;
  std::optional<TrainingPlan> training;
  std::optional<TrainingCost> cost;             // with `training`
  std::vector<TrainingMemory> training_stages;  // likewise
  std::optional<Device> device;
  ShardShare share;

  bool is_training() const { return training.has_value(); }
  const GraphTotals& totals() const { return cost ? cost->totals : graph.totals; }
  std::int64_t memory_bytes() const;  // of the fullest rank
};

// Keys of the JSON document and lines of the text. Both empty: the section has nothing to say.
struct ModelSection {
  Json data = Json::object();
  std::string text;
};

void add_model_options(OptionSet& app, ModelOptions& options);
// Throws Error (exit 2) for options that contradict each other or name something unknown.
ModelPage price_model(const ModelOptions& options);

// The type whose peak bounds `op` on the page's device; its own where none is named.
Dtype peak_dtype_of(const ModelPage& page, const Operator& op);

// The fastest possible time of one execution of `op` on the page's device, if it names one.
std::optional<RooflineEstimate> operator_floor(const ModelPage& page, const Operator& op);

ModelSection summary_section(const ModelPage& page);      // model, workload, splits, convention
ModelSection operators_section(const ModelPage& page);    // one row per operator
ModelSection totals_section(const ModelPage& page);       // sums
ModelSection mfu_section(const ModelPage& page);          // of a measured step time
ModelSection kernels_section(const ModelPage& page);      // measured layers and kernels
ModelSection notes_section(const ModelPage& page);        // assumed inputs and warnings
ModelSection experts_section(const ModelPage& page);      // what the routing does
ModelSection training_section(const ModelPage& page);     // passes, states and activations
ModelSection fit_section(const ModelPage& page);          // memory of a rank against the device's
ModelSection recurrence_section(const ModelPage& page);   // in which form the delta rule counts
ModelSection speculation_section(const ModelPage& page);  // --mtp
// The formula behind its expected tokens; needs an acceptance rate.
std::string explain_tokens_per_step(const ModelPage& page);
ModelSection explain_section(const ModelPage& page);  // --explain

}  // namespace halmark::cli
