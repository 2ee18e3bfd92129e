// The schedule of a pipeline's step that stands alone: micro-batches enter one by one, and stages
// are idle while it fills and drains.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/pricing/step_sum.hpp"

namespace halmark {

// What runs at once: stages first_stage .. first_stage + stages - 1. Stage s works on micro-batch
// `slot - s`.
struct PipelineSlot {
  std::int64_t first_stage = 0, stages = 1;
  bool has(std::int64_t stage) const {
    return stage >= first_stage && stage < first_stage + stages;
  }
  bool operator==(const PipelineSlot&) const = default;
};

// micro_batches + stages - 1 slots. They end together, because the hand-over at their end is one
// shift of all stages: for equal micro-batches this is as long as the schedule without such ends
// wherever no stage stands between two that are slower than it.
std::vector<PipelineSlot> pipeline_slots(std::int64_t stages, std::int64_t micro_batches);

// Of the whole schedule: every slot takes as long as its slowest stage. `of_stage`: one micro-batch
// on a stage while that many stages are at work.
KernelTime pipeline_time(
    const std::vector<PipelineSlot>& slots,
    const std::function<KernelTime(std::int64_t stage, std::int64_t at_work)>& of_stage);

}  // namespace halmark
