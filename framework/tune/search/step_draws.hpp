// Joint draws of the steps of one phase, whether their kernels were measured or not.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search/pareto/pareto.hpp"
#include "tune/evaluate/measured_evaluator.hpp"
#include "tune/search/gain/kernel_belief.hpp"

namespace halmark::tune {

// An estimate whose step takes another time.
Estimate with_time(const Estimate& like, double step_ns);

// In a draw, a kernel of several processes takes the median of as many of their medians, drawn with
// replacement (redraw), one of a single process scatters as those of others do, and one that nobody
// measured takes what is believed of it (KernelBelief). Steps that share a kernel share its draw.
class StepDraws {
 public:
  explicit StepDraws(const MeasuredEvaluator& evaluator) : evaluator_(evaluator) {}
  StepDraws(const StepDraws&) = delete;
  StepDraws& operator=(const StepDraws&) = delete;

  // `estimate` must outlive this; it stands where a kernel has no time at all.
  void add(const Composer& composer, const Estimate& estimate);
  // After all were added: minimised objectives of each, in their order. A function of the rows, the
  // sweep's seed and the number.
  std::vector<Objectives> draw(std::uint64_t number);

 private:
  struct Step {
    StepSum sum;
    const Estimate* estimate = nullptr;
  };
  void believe();

  const MeasuredEvaluator& evaluator_;
  KernelTable table_;
  std::vector<Step> steps_;
  std::vector<BelievedKernel> kernels_;       // of the table, once believed
  std::vector<std::vector<double>> medians_;  // likewise
  std::unique_ptr<KernelBelief> belief_;      // null: nothing is drawn from it
};

}  // namespace halmark::tune
