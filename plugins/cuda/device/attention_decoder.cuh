// Decode: few queries per key/value head, so all time goes into reading keys and values. Both come
// from memory straight into the registers of the products, 16 bytes per load: the columns of a head
// are dealt to the fragments of mma.cuh in another order, the same for both factors of a product.
//
// Scores: lane (g, t) loads of key g the columns 32 b + 8 t + 0..7 of every block b. Its four
// registers are b[0], b[1] of two products in turn, which fixes where the queries' columns go.
// Values: lane (g, t) loads of keys 2t, 2t+1, 2t+8, 2t+9 the columns 64 b + 8 g + 0..7. Product j
// of a block takes column j of these eight, so column n of it stands for column 64 b + 8 n + j.
#pragma once

#include "attention_rows.cuh"
#include "mma.cuh"
#include "reduce.cuh"

namespace hm_cuda {

// Eight 16-bit values, zeros where not `is_there`.
GPU_DEVICE void load_eight(std::uint32_t (&out)[4], const void* from, bool is_there) {
  uint4 raw = make_uint4(0, 0, 0, 0);
  if (is_there) raw = *static_cast<const uint4*>(from);
  out[0] = raw.x;
  out[1] = raw.y;
  out[2] = raw.z;
  out[3] = raw.w;
}

// The state of 16 queries in one warp. Width: head_dim filled up with zeros, a multiple of 64.
template <class T, int Width>
struct Decoder {
  static constexpr int score_blocks = Width / 32, value_blocks = Width / 64;
  // Wide heads leave registers for the keys or for the values of a step, and none for the queries.
  static constexpr bool is_wide = Width > 128;

  const T *k, *v;
  std::int32_t head_dim, g, t;
  float scale_log2;
  KeyRange split, rows[2];                                // rows g and g + 8
  std::uint32_t query[is_wide ? 1 : score_blocks][2][4];  // of rows g and g + 8
  const uint4 (*shared_query)[2][warp_threads];           // the same by block, row and lane
  std::uint32_t keys[2][score_blocks][4];                 // of keys g and g + 8 of a step
  std::uint32_t values[4][value_blocks][4];               // of keys 2t, 2t+1, 2t+8, 2t+9
  float sum[value_blocks * 8][4] = {};
  float highest[2] = {no_score, no_score}, weights[2] = {0, 0};

  // A key of this step; past the end the last one, which is masked.
  GPU_DEVICE std::int64_t key_at(std::int32_t base, std::int32_t offset) const {
    const std::int32_t key = base + offset, last = split.end - 1;
    return static_cast<std::int64_t>(key < last ? key : last) * head_dim;
  }

  GPU_DEVICE void load_keys(std::int32_t base) {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const T* key = k + key_at(base, 8 * n + g);
#pragma unroll
      for (int b = 0; b < score_blocks; ++b) {
        const std::int32_t column = 32 * b + 8 * t;
        load_eight(keys[n][b], key + column, column < head_dim);
      }
    }
  }

  GPU_DEVICE void load_values(std::int32_t base) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const T* value = v + key_at(base, 2 * t + (i & 1) + 8 * (i >> 1));
#pragma unroll
      for (int b = 0; b < value_blocks; ++b) {
        const std::int32_t column = 64 * b + 8 * g;
        load_eight(values[i][b], value + column, column < head_dim);
      }
    }
  }

  // Registers of rows g and g + 8 in block b.
  GPU_DEVICE void query_of_block(std::uint32_t (&out)[2][4], int b) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if constexpr (is_wide) {
        const uint4 raw = shared_query[b][r][4 * g + t];
        out[r][0] = raw.x;
        out[r][1] = raw.y;
        out[r][2] = raw.z;
        out[r][3] = raw.w;
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) out[r][i] = query[b][r][i];
      }
    }
  }

  // score[n][c]: keys 8 n + 2 t + c % 2 of rows g (c < 2) and g + 8.
  GPU_DEVICE void scores(std::int32_t base, float (&score)[2][4]) const {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int c = 0; c < 4; ++c) score[n][c] = 0;
    }
#pragma unroll
    for (int b = 0; b < score_blocks; ++b) {
      std::uint32_t q[2][4];
      query_of_block(q, b);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::uint32_t a[4] = {q[0][2 * half], q[1][2 * half], q[0][2 * half + 1],
                                    q[1][2 * half + 1]};
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          multiply_add<T>(score[n], a, keys[n][b][2 * half], keys[n][b][2 * half + 1]);
        }
      }
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const std::int32_t key = base + 8 * n + 2 * t + (c & 1);
        const KeyRange& row = rows[c >> 1];
        const bool is_seen = key >= row.begin && key < row.end && key < split.end;
        score[n][c] = is_seen ? score[n][c] * scale_log2 : -INFINITY;
      }
    }
  }

  // Scores become weights; what was summed is scaled to the new largest score.
  GPU_DEVICE void weigh(float (&score)[2][4]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float largest = fmaxf(fmaxf(score[0][2 * r], score[0][2 * r + 1]),
                            fmaxf(score[1][2 * r], score[1][2 * r + 1]));
      largest = fmaxf(largest, __shfl_xor_sync(all_lanes, largest, 1));
      largest = fmaxf(largest, __shfl_xor_sync(all_lanes, largest, 2));
      const float before = highest[r];
      highest[r] = fmaxf(before, largest);
      const float correction = exp2_fast(before - highest[r]);
      float added = 0;
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int c = 2 * r; c < 2 * r + 2; ++c) {
          score[n][c] = exp2_fast(score[n][c] - highest[r]);
          added += score[n][c];
        }
      }
      weights[r] = weights[r] * correction + added;  // of this lane's keys; see finish()
#pragma unroll
      for (int j = 0; j < value_blocks * 8; ++j) {
        sum[j][2 * r] *= correction;
        sum[j][2 * r + 1] *= correction;
      }
    }
  }

  GPU_DEVICE void add_values(const float (&p)[2][4]) {
    const std::uint32_t a[4] = {packed<T>(p[0][0], p[0][1]), packed<T>(p[0][2], p[0][3]),
                                packed<T>(p[1][0], p[1][1]), packed<T>(p[1][2], p[1][3])};
#pragma unroll
    for (int b = 0; b < value_blocks; ++b) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const unsigned halves = j % 2 == 0 ? 0x5410u : 0x7632u;
        const std::uint32_t b0 = __byte_perm(values[0][b][j / 2], values[1][b][j / 2], halves);
        const std::uint32_t b1 = __byte_perm(values[2][b][j / 2], values[3][b][j / 2], halves);
        multiply_add<T>(sum[b * 8 + j], a, b0, b1);
      }
    }
  }

  GPU_DEVICE void run(std::int32_t first, std::int32_t stride) {
    if (!is_wide && first < split.end) load_keys(first);
    for (std::int32_t base = first; base < split.end; base += stride) {
      float score[2][4];
      if constexpr (is_wide) {
        load_keys(base);
        scores(base, score);
        load_values(base);
      } else {
        load_values(base);
        scores(base, score);
        if (base + stride < split.end) load_keys(base + stride);
      }
      weigh(score);
      add_values(score);
    }
    // Every lane of a row has seen other keys, under the same largest scores.
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      weights[r] += __shfl_xor_sync(all_lanes, weights[r], 1);
      weights[r] += __shfl_xor_sync(all_lanes, weights[r], 2);
    }
  }

  GPU_DEVICE void scale_to(int r, float factor) {
#pragma unroll
    for (int j = 0; j < value_blocks * 8; ++j) {
      sum[j][2 * r] *= factor;
      sum[j][2 * r + 1] *= factor;
    }
  }
};

}  // namespace hm_cuda
