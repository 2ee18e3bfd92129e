// What one thread does with its piece of an attention, for one instruction set: rows in, keys
// streamed or tiled, rows out.
#pragma once

#include <halmark_plugin.h>

#include "stream.hpp"
#include "tile.hpp"

namespace hm_cpu {
namespace {

template <typename Element>
void load_typed(const AttentionTask& task, float* queries) {
  const std::int64_t wide = padded_width(task.head_dim);
  const float scale =
      static_cast<float>(1.4426950408889634 / __builtin_sqrt(static_cast<double>(task.head_dim)));
  for (std::int64_t r = 0; r < row_count(task); ++r) {
    const Element* source = static_cast<const Element*>(task.q) +
                            r / task.group * task.token_stride + r % task.group * task.head_dim;
    float* target = queries + r * wide;
    for (std::int64_t d = 0; d < task.head_dim; ++d) target[d] = widened(source[d]) * scale;
    for (std::int64_t d = task.head_dim; d < wide; ++d) target[d] = 0.0F;
  }
}

HM_CPU_INLINE std::uint16_t narrowed(float value) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40U;
  return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded);
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

void tile(const AttentionTask& task, const float* queries, const AttentionState& state,
          std::int64_t key_begin, std::int64_t key_end, float* scratch) {
  if (task.kv_dtype == HM_DTYPE_BF16) {
    tile_typed<std::uint16_t>(task, queries, state, key_begin, key_end, scratch);
  } else {
    tile_typed<float>(task, queries, state, key_begin, key_end, scratch);
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

void store_rows(const AttentionTask& task, const AttentionState& state) {
  const std::int64_t wide = padded_width(task.head_dim);
  for (std::int64_t r = 0; r < row_count(task); ++r) {
    const std::int64_t offset = r / task.group * task.token_stride + r % task.group * task.head_dim;
    const float* source = state.accumulated + r * wide;
    const float inverse = 1.0F / state.row_sum[r];
    if (task.dst_dtype == HM_DTYPE_BF16) {
      auto* target = static_cast<std::uint16_t*>(task.dst) + offset;
      for (std::int64_t d = 0; d < task.head_dim; ++d) target[d] = narrowed(source[d] * inverse);
    } else {
      float* target = static_cast<float*>(task.dst) + offset;
      for (std::int64_t d = 0; d < task.head_dim; ++d) target[d] = source[d] * inverse;
    }
  }
}

constexpr AttentionParts parts = {
    .load_queries = load_queries,
    .reset = reset,
    .stream = stream,
    .tile = tile,
    .merge = merge,
    .store = store_rows,
};

}  // namespace
}  // namespace hm_cpu
