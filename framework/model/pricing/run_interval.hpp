// Where a run of a step should lie, from what is known of its kernels and of the machine's state.
#pragma once

#include <optional>
#include <span>

#include "core/latency.hpp"
#include "core/measured/state_interval.hpp"
#include "model/pricing/step_sum.hpp"

namespace halmark {

// Of `stage`, the slowest of `sum`; `latencies` by index of its terms, all known. The half-width is
// the root of a sum of squares: what the processes of each kernel differ by (kernels are
// independent), the parts that wait for the memory and for the cores, as they follow states that
// still count as the same, and what sums of kernels differ from runs by. Nothing where a kernel is
// not measured here, or kernels that make up half of what waits for the memory name no state.
std::optional<StateInterval> run_interval(std::span<const StepSum::Term> executed,
                                          std::span<const std::optional<Latency>> latencies);
// The same of a step that is as long as the turns of one stage.
std::optional<StateInterval> run_interval(const StepSum& sum, std::size_t stage,
                                          std::span<const std::optional<Latency>> latencies);

}  // namespace halmark
