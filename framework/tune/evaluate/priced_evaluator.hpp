// Steps whose kernels' times are known without measuring: from tables, interpolation, the roofline.
#pragma once

#include "latency/chain.hpp"
#include "model/serving/engine_step.hpp"
#include "tune/evaluate/evaluator.hpp"
#include "tune/plan/composers.hpp"

namespace halmark::tune {

class PricedEvaluator : public Evaluator {
 public:
  // All must outlive it. `engine`: around every step; null = kernels alone.
  PricedEvaluator(const ModelSpec& spec, const Target& target, const LatencyChain& source,
                  const StepEngine* engine = nullptr)
      : spec_(spec), target_(target), source_(source), engine_(engine) {}

  std::vector<Evaluation> evaluate(std::span<const Configuration> configurations) override;
  std::vector<TrialTime> times() const override { return times_; }

 private:
  const ModelSpec& spec_;
  const Target& target_;
  const LatencyChain& source_;
  const StepEngine* engine_;
  std::vector<TrialTime> times_;
};

}  // namespace halmark::tune
