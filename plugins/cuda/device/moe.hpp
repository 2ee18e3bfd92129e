// Device code of a mixture of experts: the router's choice, and rows to the experts and back.
#pragma once

#include "function.hpp"

namespace hm_cuda {

struct RouteTask {
  const void* logits;  // [tokens, experts]
  std::int32_t* index;
  float* weight;  // [tokens, top_k]
  std::int64_t tokens;
  std::int32_t experts, top_k;
  bool is_sigmoid, renormalizes;
};
constexpr std::int64_t route_lanes = 32, route_experts_per_lane_max = 32;
// A warp per token, with as many logits per lane as `per_lane` (1, 2, 4, ... 32) in registers.
DeviceFunction route_warp_function(std::int64_t src, std::int64_t per_lane);
// A block per token, for any number of experts.
DeviceFunction route_block_function(std::int64_t src);

// Where each (token, slot) of a local expert lies: grouped by expert, in the order of (token,
// slot). A block per local expert goes through all of them.
struct PlacesTask {
  const std::int32_t* expert_index;  // [tokens, top_k]
  std::int32_t* token_of_row;        // [rows], or nullptr
  std::int32_t* row_of_slot;         // [slots], negative = not local; or nullptr
  std::int64_t slots, rows;
  std::int32_t top_k, first_expert, local_experts;
};
constexpr unsigned places_threads = 512;
DeviceFunction places_function();

struct DispatchTask {
  const void* src;
  void* dst;
  const std::int32_t* token_of_row;
  std::int64_t rows, row_bytes;
};
constexpr int dispatch_units_per_thread = 4;
// unit_bytes: 16, 4 or 2; divides row_bytes.
DeviceFunction dispatch_function(std::int64_t unit_bytes);

struct CombineTask {
  const void* src;
  const float* weight;
  void* dst;
  const std::int32_t* row_of_slot;
  std::int64_t tokens, hidden;
  std::int32_t top_k;
};
DeviceFunction combine_function(std::int64_t dtype, bool is_vector);

}  // namespace hm_cuda
