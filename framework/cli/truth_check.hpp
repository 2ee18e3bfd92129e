// The truth check of one deployment: its whole stack in the workers against its estimate.
#pragma once

#include <vector>

#include "cli/console/session.hpp"
#include "host/shared_memory.hpp"
#include "journal/store.hpp"
#include "measure/campaign/stack/stack_run.hpp"
#include "model/pricing/composer.hpp"

namespace halmark::cli {

struct TruthCheckOptions {
  const FoundPlugin* plugin = nullptr;
  std::uint64_t seed = 1;
  double budget_s = 5;
  std::vector<SharedMemory>* arenas = nullptr;
};

// Never throws for a failed run: the status and reason say what happened.
StackRunResult run_whole_stack(const OperatorGraph& graph, const StackPlacement& placement,
                               const TruthCheckOptions& options);

Validation confront(const OperatorGraph& graph, const Estimate& estimate,
                    const StackRunResult& run);

// Seconds that the check of a deployment will take, from its estimate and weights.
double predicted_check_s(const Estimate& estimate);

}  // namespace halmark::cli
