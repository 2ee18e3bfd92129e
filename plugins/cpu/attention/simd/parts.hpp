// What one thread does with its piece of an attention, for one instruction set: rows in, keys
// streamed or tiled, rows out.
#pragma once

#include "rows.hpp"
#include "stream.hpp"
#include "tile.hpp"

namespace hm_cpu {
namespace {

template <typename Element>
void load_typed(const AttentionTask& task, float* queries) {
  const std::int64_t wide = padded_width(task.head_dim);
  const float scale = score_scale(task.head_dim);
  for (std::int64_t r = 0; r < row_count(task); ++r) {
    const Element* source = static_cast<const Element*>(task.q) +
                            r / task.group * task.token_stride + r % task.group * task.head_dim;
    float* target = queries + r * wide;
    for (std::int64_t d = 0; d < task.head_dim; ++d) target[d] = widened(source[d]) * scale;
    for (std::int64_t d = task.head_dim; d < wide; ++d) target[d] = 0.0F;
  }
}

void load_queries(const AttentionTask& task, float* queries) {
  if (task.q_dtype == HM_DTYPE_BF16) {
    load_typed<std::uint16_t>(task, queries);
  } else {
    load_typed<float>(task, queries);
  }
}

void reset(const AttentionTask& task, const AttentionState& state) {
  const std::int64_t rows = row_count(task);
  for (std::int64_t i = 0; i < rows * padded_width(task.head_dim); ++i) state.accumulated[i] = 0.0F;
  for (std::int64_t r = 0; r < rows; ++r) {
    state.row_max[r] = minus_infinity;
    state.row_sum[r] = 0.0F;
  }
}

void stream(const AttentionTask& task, const float* queries, const AttentionState& state,
            std::int64_t key_begin, std::int64_t key_end, float* scratch) {
  if (task.kv_dtype == HM_DTYPE_BF16) {
    stream_typed<std::uint16_t>(task, queries, state, key_begin, key_end, scratch);
  } else {
    stream_typed<float>(task, queries, state, key_begin, key_end, scratch);
  }
}

void pack(const AttentionTask& task, std::int64_t first, std::int64_t count, float* block) {
  if (task.kv_dtype == HM_DTYPE_BF16) {
    pack_typed<std::uint16_t>(task, first, count, block);
  } else {
    pack_typed<float>(task, first, count, block);
  }
}

void merge(const AttentionTask& task, const AttentionState& into, const AttentionState& from) {
  const std::int64_t wide = padded_width(task.head_dim);
  for (std::int64_t r = 0; r < row_count(task); ++r) {
    if (from.row_sum[r] == 0.0F) continue;  // saw no key of this row
    const float most = into.row_max[r] > from.row_max[r] ? into.row_max[r] : from.row_max[r];
    const float old_factor = power_of_two(into.row_max[r] - most);
    const float new_factor = power_of_two(from.row_max[r] - most);
    for (std::int64_t d = 0; d < wide; ++d) {
      into.accumulated[r * wide + d] =
          into.accumulated[r * wide + d] * old_factor + from.accumulated[r * wide + d] * new_factor;
    }
    into.row_sum[r] = into.row_sum[r] * old_factor + from.row_sum[r] * new_factor;
    into.row_max[r] = most;
  }
}

constexpr AttentionParts parts = {
    .load_queries = load_queries,
    .reset = reset,
    .stream = stream,
    .block_floats = block_floats,
    .pack = pack,
    .tile = tile,
    .merge = merge,
    .store = store_rows,
};

}  // namespace
}  // namespace hm_cpu
