// A stream of steps hides filling and draining, and StepSum is the price of that; a step that is
// run alone has both.
#include "model/pricing/pipeline.hpp"

#include <algorithm>

namespace halmark {

std::vector<PipelineSlot> pipeline_slots(std::int64_t stages, std::int64_t micro_batches) {
  std::vector<PipelineSlot> out;
  for (std::int64_t slot = 0; slot < micro_batches + stages - 1; ++slot) {
    const std::int64_t first = std::max<std::int64_t>(0, slot - micro_batches + 1);
    const std::int64_t last = std::min(slot, stages - 1);
    out.push_back({.first_stage = first, .stages = last - first + 1});
  }
  return out;
}

KernelTime pipeline_time(
    const std::vector<PipelineSlot>& slots,
    const std::function<KernelTime(std::int64_t stage, std::int64_t at_work)>& of_stage) {
  KernelTime out = no_executions;
  for (const PipelineSlot& slot : slots) {
    KernelTime longest = no_executions;
    for (std::int64_t i = 0; i < slot.stages; ++i) {
      longest = largest(longest, of_stage(slot.first_stage + i, slot.stages));
    }
    add(out, longest);
  }
  return out;
}

}  // namespace halmark
