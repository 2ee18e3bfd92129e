// Folds what the ranks of a stack answered into times of the whole, of each operator and of each
// kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "host/timed_sample.hpp"
#include "measure/campaign/stack/stack_run.hpp"

namespace halmark {

// By rank: the steps of each repetition. Ranks may have different steps; repetitions beyond the
// shortest rank are left out.
using StackSteps = std::vector<std::vector<TimedSample>>;

// Clocks of several nodes have nothing in common but the start of a request: the first of its steps
// begins at 0 on every rank.
void begin_together(std::span<TimedSample> steps);

// Repetitions that every rank completed; 0 when a rank has no whole number of them.
std::size_t common_repetitions(std::span<const Stack> per_rank, const StackSteps& steps);

// Fills step_ns, median_ns, interval_ns, operators, executions and bubble_share. False when there
// is no common repetition. A shift between stages takes as long as on the rank that came last; what
// the others wait in it are the bubbles of a pipeline.
bool fold_times(std::span<const Stack> per_rank, const StackSteps& steps, StackRunResult& result);

// One sample per repetition: the mean of the kernel's executions by the rank that was slowest as a
// whole among those that hold it; of the clean ones where half of them are clean. Means add up to
// the time of a step, medians of single executions to less: the slow ones are part of it. What a
// rank waits for others is in its collectives, so the steps of one rank add up to its time; the
// slowest of each would add up to more. What a stage waits for its turn is no part of its time.
std::vector<Sample> samples_of(std::span<const Stack> per_rank, const StackSteps& steps,
                               const KernelCase& kernel_case);

// Mean of all executions of a kernel by those ranks, clean or not: what a run meets, its kernels
// beside it meet too. Nothing where no rank holds it.
std::optional<double> mean_ns(std::span<const Stack> per_rank, const StackSteps& steps,
                              const KernelCase& kernel_case);

}  // namespace halmark
