// How sure the front is, and further rounds where that is in doubt.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "cli/tune_plan.hpp"
#include "latency/measured_source.hpp"

namespace halmark::cli {

// Gives every evaluation with an estimate its class and probability among those of its phase.
void judge_front(const TunePlan& plan, const MeasuredSource& source,
                 std::vector<Evaluation>& evaluations);

// Kernels whose next round may decide a membership: those that make up most of the interval of the
// configurations which are neither surely on the front nor surely off it. Rivals nearer to each
// other than any measurement can tell are ties, and left alone.
std::vector<KernelCase> undecided_kernels(const TunePlan& plan, const MeasuredSource& source,
                                          std::span<const Evaluation> evaluations);

struct RepeatHooks {
  // One more round of these kernels, within so many seconds; its rows, stored ones included.
  std::function<std::vector<Measurement>(std::span<const KernelCase>, int round, double seconds)>
      measure;
  std::function<void()> evaluate_again;
};

// Rounds beyond the plan's, interleaved over the undecided kernels, until the front is decided or
// the sweep's repeat budget is spent. One line for people; empty when there was nothing in doubt.
std::string settle_front(const TunePlan& plan, MeasuredSource& source,
                         std::vector<Evaluation>& evaluations, const RepeatHooks& hooks);

}  // namespace halmark::cli
