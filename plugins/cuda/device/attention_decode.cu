// Decode: blocks of a few warps over a part of the keys each (see attention_decoder.cuh), their
// merging, and what is written for the pass that adds parts up.
#include "attention_decoder.cuh"
#include "instances.hpp"

namespace hm_cuda {
namespace {

constexpr int tile_rows = decode_rows, step = decode_keys;

// Brings the warps of a block together: afterwards warp 0 has the sums of all.
template <class T, int Width>
GPU_DEVICE void merge_warps(Decoder<T, Width>& own, int lane, int warp, int warps) {
  constexpr int values = Width / 64 * 8;
  __shared__ float highest_of[decode_warps_max][tile_rows], weights_of[decode_warps_max][tile_rows];
  __shared__ float added[values * 4][warp_threads];
  if (own.t == 0) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      highest_of[warp][own.g + 8 * r] = own.highest[r];
      weights_of[warp][own.g + 8 * r] = own.weights[r];
    }
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = own.g + 8 * r;
    float highest = no_score, weights = 0;
    for (int w = 0; w < warps; ++w) highest = fmaxf(highest, highest_of[w][row]);
    for (int w = 0; w < warps; ++w) {
      weights += weights_of[w][row] * exp2_fast(highest_of[w][row] - highest);
    }
    own.scale_to(r, exp2_fast(own.highest[r] - highest));
    own.highest[r] = highest;
    own.weights[r] = weights;
  }
  for (int w = 1; w < warps; ++w) {
    if (warp == w) {
#pragma unroll
      for (int i = 0; i < values * 4; ++i) added[i][lane] = own.sum[i / 4][i % 4];
    }
    __syncthreads();
    if (warp == 0) {
#pragma unroll
      for (int i = 0; i < values * 4; ++i) own.sum[i / 4][i % 4] += added[i][lane];
    }
    __syncthreads();
  }
}

template <class T, int Width>
GPU_DEVICE void write_rows(const AttentionTask& task, const Position& at,
                           const Decoder<T, Width>& own) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const std::int32_t row = at.first_row + own.g + 8 * r;
    if (row >= at.rows) continue;
    const std::int64_t query = query_of(task, at, row);
    const std::int64_t place = blockIdx.y * task.queries + query;
    const float factor = task.splits == 1 ? 1.0f / own.weights[r] : 1.0f;
#pragma unroll
    for (int b = 0; b < Decoder<T, Width>::value_blocks; ++b) {
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const std::int32_t column = 64 * b + 8 * (2 * own.t + c);
        if (column >= task.head_dim) continue;
        float out[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) out[j] = own.sum[b * 8 + j][2 * r + c] * factor;
        if (task.splits == 1) {
          store<8>(static_cast<T*>(task.dst) + query * task.head_dim + column, out);
        } else {
          store<8>(task.partial + place * task.head_dim + column, out);
        }
      }
    }
    if (task.splits > 1 && own.t == 0) {
      task.state[place * 2] = own.highest[r];
      task.state[place * 2 + 1] = own.weights[r];
    }
  }
}

template <class T, int Width>
__global__ void __launch_bounds__(decode_warps_max* warp_threads)
    attention_decode(AttentionTask task) {
  const int lane = static_cast<int>(threadIdx.x % warp_threads);
  const int warp = static_cast<int>(threadIdx.x / warp_threads);
  const int warps = static_cast<int>(blockDim.x / warp_threads);
  allow_next_launch();
  const Position at = position_of(task, tile_rows);
  constexpr bool is_wide = Decoder<T, Width>::is_wide;
  __shared__ uint4 shared_query[is_wide ? Width / 32 : 1][2][warp_threads];
  Decoder<T, Width> own;
  own.shared_query = shared_query;
  own.k = static_cast<const T*>(task.k) + keys_at(task, at);
  own.v = static_cast<const T*>(task.v) + keys_at(task, at);
  own.head_dim = task.head_dim;
  own.g = lane / 4;
  own.t = lane % 4;
  own.scale_log2 = task.scale_log2;
  own.split = keys_of_split(task, at, tile_rows, step);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const std::int32_t row = at.first_row + own.g + 8 * r;
    const bool is_live = row < at.rows;
    own.rows[r] = is_live ? keys_of_row(task, row) : KeyRange{0, 0};
    const T* q = static_cast<const T*>(task.q) +
                 query_of(task, at, is_live ? row : at.rows - 1) * task.head_dim;
#pragma unroll
    for (int b = 0; b < Decoder<T, Width>::score_blocks; ++b) {
      const std::int32_t column = 32 * b + 8 * own.t;
      std::uint32_t loaded[4];
      load_eight(loaded, q + column, column < task.head_dim && is_live);
      if constexpr (is_wide) {
        if (warp == 0) {
          shared_query[b][r][lane] = make_uint4(loaded[0], loaded[1], loaded[2], loaded[3]);
        }
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) own.query[b][r][i] = loaded[i];
      }
    }
  }
  if constexpr (is_wide) __syncthreads();
  own.run(own.split.begin + warp * step, warps * step);
  if (warps > 1) merge_warps(own, lane, warp, warps);
  if (warp == 0) write_rows(task, at, own);
}

template <class T>
DeviceFunction of_width(std::int64_t head_dim) {
  if (head_dim <= 64) return address_of_kernel(attention_decode<T, 64>);
  if (head_dim <= 128) return address_of_kernel(attention_decode<T, 128>);
  return address_of_kernel(attention_decode<T, 256>);
}

}  // namespace

DeviceFunction attention_decode_function(std::int64_t dtype, std::int64_t head_dim) {
  if (head_dim % 8 != 0 || head_dim > mma_head_dim_max) return nullptr;
  if (dtype == HM_DTYPE_BF16) return of_width<bf16>(head_dim);
  if (dtype == HM_DTYPE_F16) return of_width<f16>(head_dim);
  return nullptr;
}

}  // namespace hm_cuda
