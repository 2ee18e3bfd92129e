// Memory of a deployment: weights, KV cache and activations, per rank and in total.
#pragma once

#include <cstdint>
#include <optional>

#include "model/graph/graph.hpp"

namespace halmark {

struct RankMemory {
  std::int64_t weight_bytes = 0;
  std::int64_t kv_bytes = 0;
  std::int64_t activation_bytes = 0;  // estimate: largest live set, plus logits
  std::int64_t total() const { return weight_bytes + kv_bytes + activation_bytes; }
};

struct MemoryUse {
  std::vector<RankMemory> stages;       // of one rank per stage; the ranks of a stage are alike
  RankMemory largest;                   // the stage with the largest total
  std::int64_t weight_bytes_total = 0;  // over all ranks, replicas included
  std::int64_t kv_bytes_total = 0;
  std::int64_t total_bytes = 0;         // over all ranks
  std::int64_t kv_bytes_per_token = 0;  // whole model, one more token of one sequence
  // Whole model: what a sequence keeps whatever its context; states of recurrent layers.
  std::int64_t state_bytes_per_sequence = 0;
};

// Bytes of the tied table that a stage with both of its ends keeps once, where table and head read
// it in one type; 0 where it has two, or one end.
std::int64_t shared_table_bytes(const OperatorGraph& graph, const Stage& stage);

MemoryUse memory_use(const OperatorGraph& graph);

// What one layer of this type keeps of one sequence on a rank: cache and state, by layer_types.
std::int64_t layer_cache_bytes(const OperatorGraph& graph, std::int32_t type);

// Bytes that are missing on the fullest rank when `available_bytes` may be used per rank; nothing
// when the deployment fits.
std::optional<std::int64_t> memory_shortfall(const MemoryUse& use, std::int64_t available_bytes);

// Refusal out_of_memory with both numbers and the shortfall; nothing when it fits.
std::optional<Refusal> check_memory(const MemoryUse& use, std::int64_t available_bytes);

}  // namespace halmark
