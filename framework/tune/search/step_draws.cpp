#include "tune/search/step_draws.hpp"

#include <algorithm>

#include "core/chosen/objective.hpp"
#include "core/lists.hpp"
#include "model/pricing/redraw.hpp"
#include "tune/evaluate/first_peaks.hpp"

namespace halmark::tune {

Estimate with_time(const Estimate& like, double step_ns) {
  Estimate out;
  out.step_ns = step_ns;
  out.tokens_per_s = like.tokens_per_s * like.step_ns / step_ns;
  out.memory_bytes_total = like.memory_bytes_total;
  out.energy = like.energy;
  // What was assumed follows the time; what was metered is known, whatever the time is.
  if (out.energy && !out.energy->is_measured) out.energy->joules *= step_ns / like.step_ns;
  return out;
}

void StepDraws::add(const Composer& composer, const Estimate& estimate) {
  steps_.push_back({composer.compile(table_), &estimate});
}

// What a fabric prices was not measured, and nothing of the kind was.
void StepDraws::believe() {
  const FirstPeaks peaks(*evaluator_.context().store, evaluator_.run(), evaluator_.plan().target());
  kernels_ = believed_kernels(evaluator_, peaks, table_.cases());
  for (const BelievedKernel& k : kernels_) medians_.push_back(k.medians_ns);
  const bool is_certain =
      std::ranges::all_of(medians_, [](const auto& known) { return known.size() > 1; });
  if (!is_certain && !evaluator_.plan().target().fabric) {
    belief_ = std::make_unique<KernelBelief>(kernels_);
  }
}

std::vector<Objectives> StepDraws::draw(std::uint64_t number) {
  if (kernels_.empty()) believe();
  const Sweep& sweep = evaluator_.plan().sweep();
  std::vector<KernelTime> times = redraw(medians_, sweep.seed, number);
  if (belief_) {
    const std::vector<KernelTime> believed = belief_->draw(sweep.seed, number);
    for (const auto k : indices(times)) {
      if (medians_[k].size() < 2) times[k] = believed[k];
    }
  }
  std::vector<Objectives> out;
  for (const Step& step : steps_) {
    const auto drawn = price(step.sum, times);
    const Estimate& like = *step.estimate;
    out.push_back(minimised(drawn ? with_time(like, drawn->step_ns) : like, sweep.objectives));
  }
  return out;
}

}  // namespace halmark::tune
