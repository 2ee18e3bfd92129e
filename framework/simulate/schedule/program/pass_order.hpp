// In which order the stages of a pipeline work on micro-batches: one list of passes per stage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halmark::schedule {

// forward: micro-batch after micro-batch, as inference does. one_f_one_b: PipeDream-Flush
// (2006.09503). interleaved: the same with several chunks of layers per stage (2104.04473, section
// 2.2). zero_bubble: ZB-H1 (2401.10241), whose backward pass is split in the gradients of inputs
// and those of weights, which fill what would be idle; it keeps no more activations than 1F1B.
enum class Order { forward, one_f_one_b, interleaved, zero_bubble };
std::string_view order_name(Order order);  // "forward", "1f1b", "interleaved", "zero-bubble"
std::optional<Order> parse_training_order(std::string_view text);
std::vector<std::string> training_order_names();

// backward: both gradients, or where the order is zero_bubble those of inputs alone.
enum class PassKind : std::uint8_t { forward, backward, weight };

struct Pass {
  PassKind kind = PassKind::forward;
  std::int32_t micro_batch = 0;
  std::int32_t chunk = 0;  // of the stage: layers that follow each other
  bool operator==(const Pass&) const = default;
};

struct Pipeline {
  std::int32_t stages = 1, chunks = 1, micro_batches = 1;  // chunks of each stage
  std::int32_t chunks_in_all() const { return stages * chunks; }
  // Chunks follow each other around the stages: chunk c of stage s is number c x stages + s.
  std::int32_t number(std::int32_t stage, std::int32_t chunk) const {
    return chunk * stages + stage;
  }
};

// Throws Error (exit 2) where the order does not go with the pipeline.
void check(Order order, const Pipeline& pipeline);

// What stage `stage` executes, one after the other.
std::vector<Pass> pass_order(Order order, const Pipeline& pipeline, std::int32_t stage);

// All passes of all stages, each behind those whose results it needs.
struct StagePass {
  std::int32_t stage = 0;
  Pass pass;
};
std::vector<StagePass> passes_in_order(Order order, const Pipeline& pipeline);

}  // namespace halmark::schedule
