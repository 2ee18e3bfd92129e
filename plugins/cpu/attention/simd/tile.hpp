// Many rows of queries: arithmetic is the limit, so keys and values are packed into panels for a
// register-blocked micro-kernel of f32.
#pragma once

#include "soften.hpp"

namespace hm_cpu {
namespace {

// c[r] = (factors ? factors[r] * c[r] : 0) + a[r, :] b over Width vectors; b is [depth, panel].
template <int Rows, int Width>
HM_CPU_INLINE void multiply(const float* a, std::int64_t a_stride, const float* b,
                            std::int64_t depth, float* c, std::int64_t c_stride,
                            const float* factors) {
  Vector sum[Rows][Width];
  HM_CPU_UNROLL
  for (int r = 0; r < Rows; ++r) {
    HM_CPU_UNROLL
    for (int w = 0; w < Width; ++w) {
      sum[r][w] = factors != nullptr ? load(c + r * c_stride + w * lanes) * broadcast(factors[r])
                                     : Vector{};
    }
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    Vector column[Width];
    HM_CPU_UNROLL
    for (int w = 0; w < Width; ++w) column[w] = load(b + k * panel + w * lanes);
    HM_CPU_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const Vector value = broadcast(a[r * a_stride + k]);
      HM_CPU_UNROLL
      for (int w = 0; w < Width; ++w) sum[r][w] += value * column[w];
    }
  }
  HM_CPU_UNROLL
  for (int r = 0; r < Rows; ++r) {
    HM_CPU_UNROLL
    for (int w = 0; w < Width; ++w) store(c + r * c_stride + w * lanes, sum[r][w]);
  }
}

// Keys [0, count) transposed into panels [key / panel][dim][panel]; missing keys are zero.
template <typename Element>
void pack_keys(const Element* keys, std::int64_t count, std::int64_t width, float* target) {
  for (std::int64_t j = 0; j < count; j += lanes) {
    float* column = target + j / panel * panel * width + j % panel;
    for (std::int64_t d = 0; d < width; d += lanes) {
      Vector tile[lanes];
      for (std::int64_t i = 0; i < lanes; ++i) {
        const Element* source = keys + (j + i) * width + d;
        if (j + i >= count) {
          tile[i] = Vector{};
        } else if (d + lanes <= width) {
          tile[i] = load(source);
        } else {
          tile[i] = Vector{};
          for (std::int64_t e = 0; d + e < width; ++e) tile[i][e] = widened(source[e]);
        }
      }
      transpose(tile);
      for (std::int64_t i = 0; i < lanes && d + i < width; ++i) {
        store(column + (d + i) * panel, tile[i]);
      }
    }
  }
  // A last panel that is only half used is still read whole.
  if (const std::int64_t done = (count + lanes - 1) / lanes * lanes; done % panel != 0) {
    float* column = target + done / panel * panel * width + lanes;
    for (std::int64_t d = 0; d < width; ++d) store(column + d * panel, Vector{});
  }
}

// Values into panels [dim / panel][key][panel]; columns behind head_dim are zero.
template <typename Element>
void pack_values(const Element* values, std::int64_t count, std::int64_t width, float* target) {
  const std::int64_t wide = padded_width(width);
  for (std::int64_t d = 0; d < wide; d += lanes) {
    float* column = target + d / panel * panel * count + d % panel;
    for (std::int64_t j = 0; j < count; ++j) {
      const Element* source = values + j * width + d;
      Vector value = Vector{};
      if (d + lanes <= width) {
        value = load(source);
      } else {
        for (std::int64_t e = 0; d + e < width; ++e) value[e] = widened(source[e]);
      }
      store(column + j * panel, value);
    }
  }
}

struct PackedBlock {
  const float* keys;
  const float* values;
  std::int64_t first;  // key position of the block
  std::int64_t count;
};

template <int Rows>
void tile_rows(const AttentionTask& task, const float* queries, const AttentionState& state,
               std::int64_t row, const PackedBlock& block, float* scores, float* factors) {
  const std::int64_t wide = padded_width(task.head_dim);
  const std::int64_t stride = task.key_block + padded_lanes;
  const std::int64_t first_token = row / task.group;
  const std::int64_t last_token = (row + Rows - 1) / task.group;
  const std::int64_t begin = clamped(first_key(task, first_token) - block.first, 0, block.count);
  const std::int64_t end = clamped(last_key(task, last_token) - block.first, 0, block.count);
  if (begin >= end) return;
  for (std::int64_t j = begin / panel * panel; j < end; j += panel) {
    multiply<Rows, 2>(queries + row * wide, wide, block.keys + j * task.head_dim, task.head_dim,
                      scores + j, stride, nullptr);
  }
  for (int r = 0; r < Rows; ++r) {
    const std::int64_t token = (row + r) / task.group;
    factors[r] = soften_row(scores + r * stride,
                            clamped(first_key(task, token) - block.first, 0, block.count),
                            clamped(last_key(task, token) - block.first, 0, block.count), begin,
                            end, state.row_max[row + r], state.row_sum[row + r]);
  }
  float* sums_of_rows = state.accumulated + row * wide;
  std::int64_t d = 0;
  for (; d + panel <= wide; d += panel) {
    multiply<Rows, 2>(scores + begin, stride, block.values + d * block.count + begin * panel,
                      end - begin, sums_of_rows + d, wide, factors);
  }
  if (d < wide) {
    multiply<Rows, 1>(scores + begin, stride, block.values + d * block.count + begin * panel,
                      end - begin, sums_of_rows + d, wide, factors);
  }
}

void tile_block(const AttentionTask& task, const float* queries, const AttentionState& state,
                const PackedBlock& block, float* scores, float* factors) {
  const std::int64_t rows = row_count(task);
  std::int64_t r = 0;
  for (; r + micro_rows <= rows; r += micro_rows) {
    tile_rows<micro_rows>(task, queries, state, r, block, scores, factors);
  }
  for (; r + 4 <= rows; r += 4) tile_rows<4>(task, queries, state, r, block, scores, factors);
  for (; r < rows; ++r) tile_rows<1>(task, queries, state, r, block, scores, factors);
}

// Of keys or of values.
std::int64_t packed_floats(std::int64_t head_dim, std::int64_t key_block) {
  return key_block * (padded_width(head_dim) + 2 * padded_lanes);
}
std::int64_t block_floats(std::int64_t head_dim, std::int64_t key_block) {
  return 2 * packed_floats(head_dim, key_block);
}

template <typename Element>
void pack_typed(const AttentionTask& task, std::int64_t first, std::int64_t count, float* block) {
  const std::int64_t width = task.head_dim;
  pack_keys(static_cast<const Element*>(task.k) + first * width, count, width, block);
  pack_values(static_cast<const Element*>(task.v) + first * width, count, width,
              block + packed_floats(width, task.key_block));
}

void tile(const AttentionTask& task, const float* queries, const AttentionState& state,
          std::int64_t key_begin, std::int64_t key_end, float* scratch) {
  float* factors = scratch + micro_rows * (task.key_block + padded_lanes);
  for_each_block(task, key_begin, key_end, block_floats(task.head_dim, task.key_block),
                 [&](std::int64_t first, std::int64_t count, const float* block) {
                   tile_block(task, queries, state,
                              {.keys = block,
                               .values = block + packed_floats(task.head_dim, task.key_block),
                               .first = first,
                               .count = count},
                              scratch, factors);
                 });
}

}  // namespace
}  // namespace hm_cpu
