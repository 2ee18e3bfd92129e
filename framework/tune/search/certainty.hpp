// How sure the front is, and further rounds where that is in doubt.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tune/evaluate/measured_evaluator.hpp"

namespace halmark::tune {

// Gives every evaluation with an estimate its class and probability among those of its phase.
void judge_front(MeasuredEvaluator& evaluator, std::vector<Evaluation>& evaluations);

// Kernels whose next round may decide a membership: those that make up most of the interval of the
// configurations which are neither surely on the front nor surely off it. Rivals nearer to each
// other than any measurement can tell are ties, and left alone.
std::vector<KernelCase> undecided_kernels(MeasuredEvaluator& evaluator,
                                          std::span<const Evaluation> evaluations);

// Judges, and measures rounds beyond the plan's, interleaved over the undecided kernels, until the
// front is decided or the sweep's repeat budget is spent. One line for people; empty when there was
// nothing in doubt.
std::string settle_front(MeasuredEvaluator& evaluator, std::vector<Evaluation>& evaluations);

}  // namespace halmark::tune
