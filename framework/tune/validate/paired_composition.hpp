// What a run of the whole stack says about the sum of its kernels, which took turns with it.
#pragma once

#include <vector>

#include "core/latency.hpp"
#include "core/measured/validation.hpp"
#include "measure/campaign/stack/stack_run.hpp"
#include "model/pricing/composer.hpp"

namespace halmark::tune {

// The kernels that are worth measuring beside the run, and their share of the step.
struct CarryingKernels {
  std::vector<KernelCase> cases;
  double share = 0;
};

// The fewest kernels that make up 97 % of all executions' time, and every one that is measured
// where it stands.
CarryingKernels carrying_kernels(const Composer& composer, const LatencySource& source);

// Sets the composition of a validation, and what its operators took as the sum has it. `source`
// knows the kernels that were not measured beside the run. Without a composition it says why.
void compose_pairs(const Composer& composer, const LatencySource& source,
                   const CarryingKernels& beside, const StackRunResult& run, Validation& out);

}  // namespace halmark::tune
