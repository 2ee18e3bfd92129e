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

// The objective that no bound of times bounds, in words; "" = all have one.
std::string why_unbounded(std::span<const Objective> objectives);

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

// How many times its bound a step takes that was not tried, by those that were. Among n + 1 ratios
// that are as good as drawn from one distribution each is the least with probability 1 / (n + 1):
// with that the next step is at its bound itself, ratio 1, and else it has one of the n. What is
// drawn counts from then on as if it had been seen (Polya's urn), because steps of one machine are
// alike: none of m untried ones is at its bound with probability n / (n + m).
class BoundRatios {
 public:
  // Of the tried ones: their step over its lower bound. Below 1 counts as 1.
  explicit BoundRatios(std::vector<double> tried);
  // One ratio for each of `steps`, all of one joint draw: a function of (seed, draw).
  std::vector<double> draw(std::uint64_t seed, std::uint64_t draw, std::size_t steps) const;
  // That one step is not at its bound: n / (n + 1).
  double probability_above() const;

 private:
  std::vector<double> urn_;
};

}  // namespace halmark::tune
