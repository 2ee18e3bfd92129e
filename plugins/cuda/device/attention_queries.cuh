// Sixteen queries of one warp while tiles of keys pass: scores become weights, sums follow the
// largest score. Fragments of scores and sums are those of mma.cuh, for lane (g, t) rows g and g
// + 8.
#pragma once

#include "attention_rows.cuh"
#include "mma.cuh"
#include "reduce.cuh"

namespace hm_cuda {

// KeyTiles and ValueTiles: eights of keys in a tile, and of columns of a head.
template <int KeyTiles, int ValueTiles>
struct QueryRows {
  static constexpr int key_tiles = KeyTiles, value_tiles = ValueTiles, rows_per_warp = 16;

  int lane;
  std::int32_t first_row;
  float scale_log2;
  KeyRange rows[2];
  float sum[value_tiles][4] = {};
  float highest[2], weights[2];

  GPU_DEVICE void begin(const AttentionTask& task, const Position& at) {
    lane = static_cast<int>(threadIdx.x % warp_threads);
    first_row = at.first_row + static_cast<int>(threadIdx.x / warp_threads) * rows_per_warp;
    scale_log2 = task.scale_log2;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const std::int32_t row = first_row + lane / 4 + 8 * r;
      rows[r] = keys_of_row(task, row < at.rows ? row : at.rows - 1);
      highest[r] = no_score;
      weights[r] = 0;
    }
  }
  GPU_DEVICE void clear_sums() {
#pragma unroll
    for (int j = 0; j < value_tiles; ++j) {
#pragma unroll
      for (int c = 0; c < 4; ++c) sum[j][c] = 0;
    }
  }

  GPU_DEVICE void mask(float (&score)[key_tiles][4], std::int32_t first) const {
#pragma unroll
    for (int n = 0; n < key_tiles; ++n) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const std::int32_t key = first + 8 * n + 2 * (lane % 4) + (c & 1);
        const KeyRange& row = rows[c >> 1];
        if (key < row.begin || key >= row.end) score[n][c] = -INFINITY;
      }
    }
  }

  // Scores become weights under the new largest score; scale_sums then brings the sums there.
  GPU_DEVICE void weigh(float (&score)[key_tiles][4], float (&correction)[2]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float columns[2] = {score[0][2 * r], score[0][2 * r + 1]};  // even ones, odd ones
#pragma unroll
      for (int n = 1; n < key_tiles; ++n) {
#pragma unroll
        for (int c = 0; c < 2; ++c) columns[c] = fmaxf(columns[c], score[n][2 * r + c]);
      }
      float largest = fmaxf(columns[0], columns[1]);
      largest = fmaxf(largest, __shfl_xor_sync(all_lanes, largest, 1));
      largest = fmaxf(largest, __shfl_xor_sync(all_lanes, largest, 2));
      const float before = highest[r];
      highest[r] = fmaxf(before, largest * scale_log2);
      correction[r] = exp2_fast(before - highest[r]);
      columns[0] = columns[1] = 0;
#pragma unroll
      for (int n = 0; n < key_tiles; ++n) {
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          float& of = score[n][2 * r + c];
          of = exp2_fast(fmaf(of, scale_log2, -highest[r]));
          columns[c] += of;
        }
      }
      weights[r] = weights[r] * correction[r] + (columns[0] + columns[1]);
    }
  }

  GPU_DEVICE void scale_sums(const float (&correction)[2]) {
#pragma unroll
    for (int j = 0; j < value_tiles; ++j) {
#pragma unroll
      for (int c = 0; c < 4; ++c) sum[j][c] *= correction[c >> 1];
    }
  }

  // The weights of sixteen keys, 8 n on, as a fragment of the product with their values.
  template <class T>
  GPU_DEVICE void weights_of_keys(std::uint32_t (&out)[4], const float (&p)[key_tiles][4],
                                  int n) const {
    out[0] = packed<T>(p[n][0], p[n][1]);
    out[1] = packed<T>(p[n][2], p[n][3]);
    out[2] = packed<T>(p[n + 1][0], p[n + 1][1]);
    out[3] = packed<T>(p[n + 1][2], p[n + 1][3]);
  }

  // 1 / the sum of a row's weights.
  GPU_DEVICE float inverse(int r) const {
    float all = weights[r];
    all += __shfl_xor_sync(all_lanes, all, 1);
    all += __shfl_xor_sync(all_lanes, all, 2);
    return 1.0f / all;
  }

  template <class T>
  GPU_DEVICE void write(const AttentionTask& task, const Position& at) const {
    const int g = lane / 4, t = lane % 4;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float scale = inverse(r);
      const std::int32_t row = first_row + g + 8 * r;
      if (row >= at.rows) continue;
      T* dst = static_cast<T*>(task.dst) + query_of(task, at, row) * task.head_dim;
#pragma unroll
      for (int j = 0; j < value_tiles; ++j) {
        const std::int32_t column = 8 * j + 2 * t;
        if (column >= task.head_dim) continue;
        *reinterpret_cast<std::uint32_t*>(dst + column) =
            packed<T>(sum[j][2 * r] * scale, sum[j][2 * r + 1] * scale);
      }
    }
  }
};

// Keys that all rows of a block see need no mask.
GPU_DEVICE KeyRange keys_seen_by_all(const AttentionTask& task, const Position& at,
                                     std::int32_t block_rows) {
  const std::int32_t end = at.first_row + block_rows;
  return {keys_of_row(task, (end < at.rows ? end : at.rows) - 1).begin,
          keys_of_row(task, at.first_row).end};
}

}  // namespace hm_cuda
