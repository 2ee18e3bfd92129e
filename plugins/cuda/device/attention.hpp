// Device code of attention. The queries of one key/value head are packed into rows: row r is token
// r / group, head kv_head * group + r % group, so that a tile of keys serves all of them.
#pragma once

#include "function.hpp"

namespace hm_cuda {

struct AttentionTask {
  const void *q, *k, *v;
  void* dst;
  // [splits, queries, head_dim] unnormalised sums, and [splits, queries, 2] their largest score and
  // sum of weights, both in powers of two; only with splits > 1. queries = batch new_tokens heads
  float *partial, *state;
  std::int64_t queries;
  std::int32_t batch, heads, kv_heads, head_dim, new_tokens, context;
  std::int32_t window;  // 0 = none
  std::int32_t splits;
  bool is_causal;
  float scale_log2;  // log2(e) / sqrt(head_dim)
};

// grid: x = tiles of rows, times kv_heads, times batch; y = splits.
// A warp per row, for any width of head up to plain_head_dim_max.
constexpr std::int64_t plain_head_dim_max = 1024;
DeviceFunction attention_plain_function(std::int64_t dtype, std::int64_t head_dim);

// A tile of 16 rows per block, whose warps take keys in turn, straight from memory into registers.
constexpr std::int64_t decode_rows = 16, decode_keys = 16, decode_warps_max = 8;
DeviceFunction attention_decode_function(std::int64_t dtype, std::int64_t head_dim);

// 16 rows per warp over tiles of keys in shared memory.
struct PrefillShape {
  DeviceFunction function = nullptr;
  std::int64_t shared_bytes = 0;
};
PrefillShape attention_prefill_function(std::int64_t dtype, std::int64_t head_dim,
                                        std::int64_t warps);

// Keys and values as [batch * kv_heads, context, head_dim] of 16 bits.
struct TiledAttention {
  AttentionTask task;
  TensorMap k, v;
};

// The same with Hopper's products (sm_90a), heads up to 128 wide, of a TiledAttention: tiles of so
// many rows, as many blocks as there is room for at once. Boxes of so many columns and keys, in
// rows of 128 bytes with their swizzle.
constexpr std::int64_t attention_wgmma_rows = 128, attention_wgmma_threads = 384;
constexpr std::int64_t attention_box_columns = 64, attention_box_keys = 128;
PrefillShape attention_wgmma_function(std::int64_t dtype, std::int64_t head_dim);

// Decode and prefill want heads of a multiple of 8 values, up to this width.
constexpr std::int64_t mma_head_dim_max = 256;

// Adds the splits up; a warp per query.
constexpr unsigned combine_warps = 4;
DeviceFunction attention_combine_function(std::int64_t dtype);

}  // namespace hm_cuda
