// What `halmark model` works on and how its page is put together: options, the priced step, and the
// sections. A new section is one function and one line of the table in model.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/command.hpp"
#include "cli/facts.hpp"
#include "cli/model_kernels.hpp"
#include "model/graph.hpp"
#include "model/memory.hpp"
#include "model/roofline.hpp"

namespace halmark::cli {

struct ModelOptions {
  std::string model;
  DeploymentOptions deployment;
  std::string device;
  std::string peak = "datasheet";
  std::optional<double> measured_ms;
  KernelOptions kernels;
  bool list = false;
};

// One step of one deployment, priced.
struct ModelPage {
  ModelOptions options;
  OperatorGraph graph;
  MemoryUse memory;
  std::optional<Device> device;
  ShardShare share;
};

// Keys of the JSON document and lines of the text. Both empty: the section has nothing to say.
struct ModelSection {
  Json data = Json::object();
  std::string text;
};

// The fastest possible time of one execution of `op` on the page's device, if it names one.
std::optional<Floor> operator_floor(const ModelPage& page, const Operator& op);

ModelSection summary_section(const ModelPage& page);    // model, workload, splits, convention
ModelSection operators_section(const ModelPage& page);  // one row per operator
ModelSection totals_section(const ModelPage& page);     // sums and memory
ModelSection mfu_section(const ModelPage& page);        // of a measured step time
ModelSection kernels_section(const ModelPage& page);    // measured layers and kernels
ModelSection notes_section(const ModelPage& page);      // assumed inputs and warnings
ModelSection experts_section(const ModelPage& page);    // what the routing does

}  // namespace halmark::cli
