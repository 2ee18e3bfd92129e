// A whole recording against a model, pass by pass.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/comparison/trace_view.hpp"

namespace halmark::trace {

struct ComparedPass {
  std::uint32_t pass = 0;
  std::optional<Workload> workload;  // absent: not compared, and `reason` says why
  std::string reason;
};

// Products of the compared rows of one pass. Rows of unknown FLOPs are in none of the sums.
struct PassFlops {
  double trace = 0, model = 0;   // of the recorded rank, and of its share
  double scaled = 0, whole = 0;  // over all ranks: the trace's rows scaled, and the model's
  std::size_t unknown = 0;       // rows that are left out, of either side
};

// A pass that trains: its products have no module behind the forward pass, so that their sum is
// compared and no row is.
struct TrainingStep {
  std::uint32_t pass = 0;
  Workload workload;
  double trace_flops = 0, model_flops = 0;  // of this rank; three forward passes by the model
  std::uint64_t unknown = 0;                // executions whose FLOPs should be known
};

struct ModelComparison {
  Comparison comparison;
  std::vector<TrainingStep> training;
  std::vector<ComparedPass> passes;  // that the filter leaves
  bool is_equal() const;             // every row ok, everything explained
  PassFlops flops(std::uint32_t pass) const;
};

// What the passes are compared with: the model, and its sizes where they are not each pass's own.
struct ComparedModel {
  const ModelSpec& spec;
  Configuration configuration;
  bool has_workload = false;  // the configuration's; else what the attention of a pass shows
  double tolerance = 0.01;    // largest relative difference that is ok
};

// Throws Error (exit 2) where no pass can be compared, or the model refuses a pass's sizes.
ModelComparison compare_model(const Recording& recording, const Attribution& attribution,
                              const ComparedModel& model, const TraceFilter& filter);

}  // namespace halmark::trace
