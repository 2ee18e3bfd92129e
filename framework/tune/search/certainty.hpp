// How sure the front is, and further rounds where that is in doubt.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/chosen/untried.hpp"
#include "tune/evaluate/measured_evaluator.hpp"
#include "tune/search/rival.hpp"

namespace halmark::tune {

// Gives every evaluation with an estimate its class and probability among the configurations of its
// phase, those that were not tried included, and returns what these could be.
//
// A probability is the share of joint draws (StepDraws) in which nothing beats the configuration.
// Where one that was not tried is better at its best than what is printed, no more than n / (n + 1)
// is claimed of n tried ones, and never the class `certain`.
std::vector<Untried> judge_front(MeasuredEvaluator& evaluator,
                                 std::vector<Evaluation>& evaluations);
// `rivals`: of each phase with another, what would change the choice of its best point by the first
// objective.
std::vector<Untried> judge_front(MeasuredEvaluator& evaluator, std::vector<Evaluation>& evaluations,
                                 std::vector<Rival>& rivals);

// Kernels whose next round may decide a membership: those that make up most of the interval of the
// configurations which are neither surely on the front nor surely off it. Rivals nearer to each
// other than any measurement can tell are ties, and left alone.
std::vector<KernelCase> undecided_kernels(MeasuredEvaluator& evaluator,
                                          std::span<const Evaluation> evaluations);

// Judges, and measures rounds beyond the plan's, interleaved over the undecided kernels, until the
// front is decided or the sweep's repeat budget is spent. What was not tried is in doubt whatever
// is repeated, and no reason to.
struct SettledFront {
  std::string note;  // one line for people; "" where nothing was in doubt
  std::vector<Untried> untried;
  std::vector<Rival> rivals;  // see judge_front
};
SettledFront settle_front(MeasuredEvaluator& evaluator, std::vector<Evaluation>& evaluations);

}  // namespace halmark::tune
