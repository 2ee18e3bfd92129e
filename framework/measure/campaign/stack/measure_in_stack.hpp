// Kernels where they stand: short stacks of a configuration are repeated, and every kernel has one
// sample per repetition. A loop of its own keeps what a stack does not: code, address
// translations, the branches that were taken, the output of the kernel before.
#pragma once

#include <span>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/measured/measurement.hpp"
#include "measure/campaign/bandwidth_state.hpp"
#include "measure/campaign/run_peaks.hpp"
#include "measure/campaign/stack/stack_run.hpp"

namespace halmark {

struct InStackOptions {
  StackRunOptions staging;  // what it says of blocks and pairs is not read
  protocol::SampleRule rule;
  // What rows of a kernel are judged by; null = nothing.
  std::function<RunPeaks*(const KernelCase&)> peaks_of;
  bool asks_bound = false;              // a time that no peaks bound is suspect
  BandwidthState* bandwidth = nullptr;  // of this machine; null = not followed
  int checked_executions = 44;          // of each kernel, behind the repetitions
};

// Of sampling a whole stack: the budget of ten kernels, which most of the time of a step is.
inline double in_stack_budget_s(const protocol::SampleRule& rule) { return 10 * rule.budget_s; }

// One row per case, in their order; a case that no stack holds is refused. What ends the stack is
// the status of the kernel that did it, and the others are refused; of all where none is known (a
// lost worker). Rows have no round, seed or plugin hash yet.
std::vector<Measurement> measure_in_stack(std::span<const Stack> short_stacks,
                                          std::span<const KernelCase> cases,
                                          const InStackOptions& options);

}  // namespace halmark
