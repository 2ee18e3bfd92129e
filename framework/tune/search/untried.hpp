// What a measured sweep did not try, from its bounds: whether it could still enter a front, and how
// likely.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/untried.hpp"
#include "tune/evaluate/measured_evaluator.hpp"

namespace halmark::tune {

// Step, tokens/s and memory of a configuration whose kernels take these times; nothing where all
// take none.
std::optional<Estimate> step_of(const Composer& composer,
                                const std::function<KernelTime(const KernelCase&)>& time);

// Of each phase that has some: how many configurations of the plan were not tried.
std::vector<Untried> count_untried(const MeasuredEvaluator& evaluator,
                                   std::span<const Evaluation> evaluations);

struct UntriedStep {
  const Configuration* configuration = nullptr;
  const Composer* composer = nullptr;
  Estimate at_best;  // of step_of
};
// Configurations of the plan in this phase that were not tried, at best: kernels that are measured
// at the low end of their interval, the others at their lower bound. One that needs a kernel which
// failed cannot enter. Empty where count_untried has a reason.
std::vector<UntriedStep> untried_steps(MeasuredEvaluator& evaluator, Phase phase,
                                       std::span<const Evaluation> evaluations);

}  // namespace halmark::tune
