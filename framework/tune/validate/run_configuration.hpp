// One configuration on the device: its kernels measured, its whole stack run, the run against the
// estimate. The one call that `halmark run` makes.
#pragma once

#include <optional>

#include "journal/store.hpp"
#include "tune/evaluate/measure_kernels.hpp"
#include "tune/plan/composers.hpp"

namespace halmark::tune {

struct RunOutcome {
  // Without an estimate: interrupted, or its reason; where ranks share cores nothing is estimated.
  Evaluation evaluation;
  std::optional<Validation> validation;  // of the run; absent where there is none
};

// Throws Error (exit 2) for an impossible configuration or one that no plugin can run, and does
// nothing else.
void require_runnable(const ModelSpec& spec, const Configuration& configuration,
                      const Target& target);

// `measuring`: rounds are fresh processes per kernel. `stack_s`: for the turns of the whole stack
// and its kernels. Throws Error (exit 2) for an impossible configuration or one that no plugin can
// run.
RunOutcome run_configuration(const ModelSpec& spec, const Configuration& configuration,
                             const Target& target, const KernelMeasuring& measuring,
                             double stack_s);

}  // namespace halmark::tune
