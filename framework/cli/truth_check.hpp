// The truth check of one deployment: its whole stack in the workers against its estimate.
#pragma once

#include <vector>

#include "cli/session.hpp"
#include "host/shared_memory.hpp"
#include "journal/store.hpp"
#include "model/composer.hpp"

namespace halmark::cli {

struct TruthCheckOptions {
  const FoundPlugin* plugin = nullptr;
  std::uint64_t seed = 1;
  double budget_s = 5;
  std::vector<SharedMemory>* arenas = nullptr;
};

// Never throws for a failed run: the status and reason say what happened.
Validation truth_check(const Composer& composer, const StackPlacement& placement,
                       const Estimate& estimate, const TruthCheckOptions& options);

// Seconds that the check of a deployment will take, from its estimate and weights.
double predicted_check_s(const Estimate& estimate);

}  // namespace halmark::cli
