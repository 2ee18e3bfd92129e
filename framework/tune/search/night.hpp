// A night of a sweep with [nightly]: what is measured first where its minutes do not cover
// everything, and sentinels before, between and after the rounds.
#pragma once

#include <string>
#include <vector>

#include "tune/evaluate/agreement/night_duets.hpp"
#include "tune/evaluate/measured_evaluator.hpp"

namespace halmark::tune {

// Measures kernels of the plan in the caller's order, as many as the night's budget lets expect,
// and adds their rows to the evaluator's source; then its duets. Returns notes: what was left for
// other nights, and sentinels that moved.
std::vector<std::string> measure_night(MeasuredEvaluator& evaluator, const NightBuilds& builds);

// Configurations that lack a kernel this night: they have neither figures nor a failure.
std::size_t drop_unmeasured(MeasuredEvaluator& evaluator, std::vector<Evaluation>& evaluations);

// Of a night whose space was looked at: measures nothing further.
class KnownKernels : public KernelChooser {
 public:
  void measure(std::span<const Configuration>, Composers&, MeasuredSource&) override {}
};

}  // namespace halmark::tune
