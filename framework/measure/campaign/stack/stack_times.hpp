// Folds what the ranks of a stack run answered into times of the whole and of each operator.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/configuration.hpp"
#include "measure/campaign/stack/stack_run.hpp"

namespace halmark {

// `blocks[r]`: per repetition the ns of each step of rank r, then the total of that repetition.
// Ranks may have different steps; repetitions beyond the shortest rank are left out. Fills step_ns,
// median_ns, interval_ns and operators. False when a block does not fit its stack or none is
// complete.
bool fold_times(std::span<const Stack> per_rank, std::span<const std::vector<double>> blocks,
                StackRunResult& result);

}  // namespace halmark
