// Which keys a row of packed queries sees, and where its query lies.
#pragma once

#include "attention.hpp"
#include "gpu_runtime.hpp"

namespace hm_cuda {

// Scores that no key reached: far below any other, and still finite.
constexpr float no_score = -1e30f;

struct KeyRange {
  std::int32_t begin, end;
};

struct Position {
  std::int32_t sequence, kv_head, first_row, rows;  // rows = of this kv_head in all
};

GPU_DEVICE std::int32_t group_of(const AttentionTask& task) { return task.heads / task.kv_heads; }

// blockIdx.x, with the last tiles first: causal ones have the most keys.
GPU_DEVICE Position position_of(const AttentionTask& task, std::int32_t tile_rows) {
  Position out;
  out.rows = task.new_tokens * group_of(task);
  const std::int32_t tiles = (out.rows + tile_rows - 1) / tile_rows;
  const std::int32_t tile = tiles - 1 - static_cast<std::int32_t>(blockIdx.x % tiles);
  const std::int32_t pair = static_cast<std::int32_t>(blockIdx.x / tiles);
  out.kv_head = pair % task.kv_heads;
  out.sequence = pair / task.kv_heads;
  out.first_row = tile * tile_rows;
  return out;
}

GPU_DEVICE KeyRange keys_of_token(const AttentionTask& task, std::int32_t token) {
  const std::int32_t end =
      task.is_causal ? task.context - task.new_tokens + token + 1 : task.context;
  const std::int32_t begin = task.window > 0 && end > task.window ? end - task.window : 0;
  return {begin, end};
}
GPU_DEVICE KeyRange keys_of_row(const AttentionTask& task, std::int32_t row) {
  return keys_of_token(task, row / group_of(task));
}

// Keys that any of `count` rows from `first` on sees, cut to this block's split: whole steps.
GPU_DEVICE KeyRange keys_of_split(const AttentionTask& task, const Position& at,
                                  std::int32_t tile_rows, std::int32_t step) {
  const std::int32_t last = at.first_row + tile_rows < at.rows ? at.first_row + tile_rows : at.rows;
  const KeyRange first_keys = keys_of_row(task, at.first_row);
  const KeyRange last_keys = keys_of_row(task, last - 1);
  const std::int32_t steps = (last_keys.end - first_keys.begin + step - 1) / step;
  const std::int32_t per_split = (steps + task.splits - 1) / task.splits;
  const std::int64_t begin = first_keys.begin + static_cast<std::int64_t>(per_split) * step *
                                                    static_cast<std::int32_t>(blockIdx.y);
  const std::int64_t end = begin + static_cast<std::int64_t>(per_split) * step;
  const std::int64_t limit = last_keys.end;
  return {static_cast<std::int32_t>(begin < limit ? begin : limit),
          static_cast<std::int32_t>(end < limit ? end : limit)};
}

// Index of a row's query among all, [batch, new_tokens, heads].
GPU_DEVICE std::int64_t query_of(const AttentionTask& task, const Position& at, std::int32_t row) {
  const std::int32_t group = group_of(task), token = row / group;
  return (static_cast<std::int64_t>(at.sequence) * task.new_tokens + token) * task.heads +
         at.kv_head * group + row % group;
}

// First element of key 0 of this block's head in k and v.
GPU_DEVICE std::int64_t keys_at(const AttentionTask& task, const Position& at) {
  return (static_cast<std::int64_t>(at.sequence) * task.kv_heads + at.kv_head) * task.context *
         task.head_dim;
}

}  // namespace hm_cuda
