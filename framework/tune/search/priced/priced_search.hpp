// The search over steps whose kernels are not measured now, and its report.
#pragma once

#include <functional>

#include "report/report.hpp"
#include "tune/evaluate/priced_evaluator.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::tune {

class Steering;

// What a priced search is given and gives beside its report. All may be null.
struct PricedExtras {
  Steering* steering = nullptr;        // who proposes instead of a sampler
  TrialTimes* times = nullptr;         // when each configuration that is kept was evaluated
  const StepEngine* engine = nullptr;  // around every step
};

// Throws Error (exit 2) when no configuration has figures, unless it was stopped before.
RunReport search_steps(const TunePlan& plan, const LatencyChain& latencies,
                       const std::function<bool()>& should_stop, bool bounds_compete = false,
                       const PricedExtras& extras = {});

}  // namespace halmark::tune
