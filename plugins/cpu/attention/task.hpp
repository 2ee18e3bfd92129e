// What the attention driver and its per-instruction-set parts agree on. One task is a run of query
// tokens against the keys of one KV head; all query heads that share this KV head go together.
#pragma once

#include <cstdint>

namespace hm_cpu {

// Rows of a task are (token, head of the group), token-major; row r belongs to token r / group.
struct AttentionTask {
  const void* q = nullptr;  // token 0, first head of the group; heads of a token are adjacent
  const void* k = nullptr;  // [context, head_dim] of one KV head
  const void* v = nullptr;
  void* dst = nullptr;      // as q
  std::int64_t tokens = 0;  // of this task
  std::int64_t group = 1;   // query heads per KV head
  std::int64_t head_dim = 0;
  std::int64_t token_stride = 0;    // elements between two tokens of q and dst
  std::int64_t first_position = 0;  // key position of token 0
  std::int64_t context = 0;
  std::int64_t window = 0;  // 0 = unlimited
  bool causal = true;
  std::int32_t q_dtype = 0;
  std::int32_t kv_dtype = 0;
  std::int32_t dst_dtype = 0;
  std::int64_t key_block = 128;  // keys per packed block of the tile path
  const float* packed =
      nullptr;  // blocks of the KV head, the first of them from key packed_from on
  std::int64_t packed_from = 0;
};

// Internal linkage on purpose: this header is compiled for several instruction sets, and a shared
// inline function could be emitted with the widest of them.
static inline std::int64_t row_count(const AttentionTask& task) { return task.tokens * task.group; }

// Keys [first_key, last_key) that a token sees; never empty.
static inline std::int64_t last_key(const AttentionTask& task, std::int64_t token) {
  return task.causal ? task.first_position + token + 1 : task.context;
}
static inline std::int64_t first_key(const AttentionTask& task, std::int64_t token) {
  const std::int64_t begin = task.window > 0 ? task.first_position + token + 1 - task.window : 0;
  return begin > 0 ? begin : 0;
}

// Rows of every scratch matrix are padded to whole vectors of the widest instruction set.
constexpr std::int64_t padded_lanes = 16;
static constexpr std::int64_t padded_width(std::int64_t head_dim) {
  return (head_dim + padded_lanes - 1) / padded_lanes * padded_lanes;
}

// More rows than this per KV head make packing the keys worth its cost.
constexpr std::int64_t stream_rows_max = 16;
constexpr std::int64_t stream_keys = 32;  // per block: K or V of head_dim 128 fills half of L1

// Online softmax of some rows over some keys: sums of exp2(score - max), not yet divided.
struct AttentionState {
  float* accumulated = nullptr;  // [rows, padded_width]
  float* row_max = nullptr;      // [rows], in units of log2
  float* row_sum = nullptr;      // [rows]
};

// One instruction set's part. Sizes in floats; scratch is 64-byte aligned.
struct AttentionParts {
  void (*load_queries)(const AttentionTask&, float* queries);  // scaled by log2(e) / sqrt(head_dim)
  void (*reset)(const AttentionTask&, const AttentionState&);
  // Few rows: keys and values are read once, in order, without packing.
  void (*stream)(const AttentionTask&, const float* queries, const AttentionState&,
                 std::int64_t key_begin, std::int64_t key_end, float* scratch);
  // Many rows: keys and values are packed once, `count` of them from key `first` on, into a block
  // of block_floats; tiles of queries read the blocks of task.packed.
  std::int64_t (*block_floats)(std::int64_t head_dim, std::int64_t key_block);
  void (*pack)(const AttentionTask&, std::int64_t first, std::int64_t count, float* block);
  void (*tile)(const AttentionTask&, const float* queries, const AttentionState&,
               std::int64_t key_begin, std::int64_t key_end, float* scratch);
  // into += from: joins the states of two key ranges.
  void (*merge)(const AttentionTask&, const AttentionState& into, const AttentionState& from);
  void (*store)(const AttentionTask&, const AttentionState&);  // divides and rounds to dst
};

static constexpr std::int64_t stream_scratch_floats(std::int64_t head_dim) {
  return stream_rows_max * (stream_keys + padded_lanes) + stream_rows_max +
         stream_keys * padded_width(head_dim);
}
// Matrix units take whole tiles of rows: queries and sums are padded to them with zeros.
constexpr std::int64_t tile_rows_padding = 32;
static constexpr std::int64_t padded_rows(std::int64_t rows) {
  return (rows + tile_rows_padding - 1) / tile_rows_padding * tile_rows_padding;
}
// Scores of one micro-tile, their weights in a narrower type, a factor per row.
static constexpr std::int64_t tile_scratch_floats(std::int64_t key_block) {
  return tile_rows_padding * (2 * (key_block + padded_lanes) + 1);
}

const AttentionParts& attention_parts_generic();
#if defined(__x86_64__)
const AttentionParts& attention_parts_avx2();
const AttentionParts& attention_parts_avx512();
// Many rows of bf16 only: no stream, no merge.
const AttentionParts& attention_parts_avx512_bf16();
const AttentionParts& attention_parts_amx_bf16();
// Whether the tiles give a product whose sums are exact; asked once, where Isa::amx was detected.
bool amx_bf16_is_right();
#endif

}  // namespace hm_cpu
