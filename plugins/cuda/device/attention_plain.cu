// Attention without tensor cores, for every type and width of head, and the pass that adds splits
// up.
#include "attention_rows.cuh"
#include "instances.hpp"
#include "mma.cuh"
#include "reduce.cuh"

namespace hm_cuda {
namespace {

constexpr int step = 32, piece = 64;  // keys at a time; columns of them in shared memory
constexpr int plain_warps_max = 8;

GPU_DEVICE float warp_reduced_max(float x) {
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    x = fmaxf(x, __shfl_xor_sync(all_lanes, x, offset));
  }
  return x;
}
GPU_DEVICE float warp_reduced_sum(float x) {
  for (unsigned offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(all_lanes, x, offset);
  return x;
}

struct Pieces {
  float keys[step][piece + 1];
  float query[plain_warps_max][piece];
};

// q times key `base` + lane, piece by piece of their columns; all warps of a block take part.
template <class T>
GPU_DEVICE float score_of_key(Pieces& pieces, const T* q, const T* k, std::int32_t base,
                              std::int32_t end, std::int32_t width) {
  const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x % warp_threads);
  const std::int32_t warp = static_cast<std::int32_t>(threadIdx.x / warp_threads);
  float score = 0;
  for (std::int32_t column = 0; column < width; column += piece) {
    __syncthreads();  // the piece before is no longer read
    for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x); i < step * piece;
         i += static_cast<std::int32_t>(blockDim.x)) {
      const std::int32_t key = base + i / piece, c = column + i % piece;
      const bool is_there = key < end && c < width;
      pieces.keys[i / piece][i % piece] =
          is_there ? to_float(k[static_cast<std::int64_t>(key) * width + c]) : 0.0f;
    }
    for (std::int32_t c = lane; c < piece; c += static_cast<std::int32_t>(warp_threads)) {
      pieces.query[warp][c] = column + c < width ? to_float(q[column + c]) : 0.0f;
    }
    __syncthreads();
#pragma unroll 16
    for (int c = 0; c < piece; ++c) score += pieces.query[warp][c] * pieces.keys[lane][c];
  }
  return score;
}

// A query's weighted values; a lane has every 32nd column.
template <class T, int Columns>
struct PlainSums {
  float sum[Columns] = {};
  float highest = no_score, weights = 0;

  // `score` is that of key lane, in powers of two, or -infinity; `value` the first of `count` keys.
  GPU_DEVICE void add(float score, const T* value, std::int32_t count, std::int32_t lane,
                      std::int32_t width) {
    const float before = highest;
    highest = fmaxf(highest, warp_reduced_max(score));
    const float correction = exp2_fast(before - highest), p = exp2_fast(score - highest);
    weights = weights * correction + warp_reduced_sum(p);
#pragma unroll
    for (int i = 0; i < Columns; ++i) sum[i] *= correction;
    for (std::int32_t j = 0; j < count; ++j, value += width) {
      const float weight = __shfl_sync(all_lanes, p, j);
#pragma unroll
      for (int i = 0; i < Columns; ++i) {
        const std::int32_t c = lane + i * static_cast<std::int32_t>(warp_threads);
        if (c < width) sum[i] += weight * to_float(value[c]);
      }
    }
  }

  GPU_DEVICE void write(const AttentionTask& task, std::int64_t query, std::int32_t lane) const {
    const std::int64_t width = task.head_dim, place = blockIdx.y * task.queries + query;
    const float inverse = 1.0f / weights;
#pragma unroll
    for (int i = 0; i < Columns; ++i) {
      const std::int32_t c = lane + i * static_cast<std::int32_t>(warp_threads);
      if (c >= width) continue;
      if (task.splits == 1) {
        static_cast<T*>(task.dst)[query * width + c] = from_float<T>(sum[i] * inverse);
      } else {
        task.partial[place * width + c] = sum[i];
      }
    }
    if (task.splits > 1 && lane == 0) {
      task.state[place * 2] = highest;
      task.state[place * 2 + 1] = weights;
    }
  }
};

// Lane = key while scores are made, lane = column while values are added.
template <class T, int Columns>
__global__ void attention_plain(AttentionTask task) {
  __shared__ Pieces pieces;
  allow_next_launch();
  const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x % warp_threads);
  const std::int32_t warp = static_cast<std::int32_t>(threadIdx.x / warp_threads);
  const std::int32_t warps = static_cast<std::int32_t>(blockDim.x / warp_threads);
  const Position at = position_of(task, warps);
  const KeyRange range = keys_of_split(task, at, warps, step);
  const bool is_live = at.first_row + warp < at.rows;
  const std::int32_t row = is_live ? at.first_row + warp : at.rows - 1;
  const KeyRange own = keys_of_row(task, row);
  const std::int64_t query = query_of(task, at, row);
  const std::int32_t width = task.head_dim;
  const T* q = static_cast<const T*>(task.q) + query * width;
  const T* k = static_cast<const T*>(task.k) + keys_at(task, at);
  const T* v = static_cast<const T*>(task.v) + keys_at(task, at);

  PlainSums<T, Columns> sums;
  for (std::int32_t base = range.begin; base < range.end; base += step) {
    const float product = score_of_key(pieces, q, k, base, range.end, width);
    const std::int32_t key = base + lane;
    const bool is_seen = key >= own.begin && key < own.end && key < range.end;
    const std::int32_t count = range.end - base < step ? range.end - base : step;
    sums.add(is_seen ? product * task.scale_log2 : -INFINITY,
             v + static_cast<std::int64_t>(base) * width, count, lane, width);
  }
  if (is_live) sums.write(task, query, lane);
}

template <class T>
__global__ void attention_combine(AttentionTask task) {
  wait_for_previous_launch();
  const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x % warp_threads);
  const std::int64_t query =
      static_cast<std::int64_t>(blockIdx.x) * combine_warps + threadIdx.x / warp_threads;
  if (query >= task.queries) return;
  float highest = no_score, weights = 0;
  for (std::int32_t s = lane; s < task.splits; s += static_cast<std::int32_t>(warp_threads)) {
    highest = fmaxf(highest, task.state[(s * task.queries + query) * 2]);
  }
  highest = warp_reduced_max(highest);
  for (std::int32_t s = lane; s < task.splits; s += static_cast<std::int32_t>(warp_threads)) {
    const float* state = task.state + (s * task.queries + query) * 2;
    weights += exp2_fast(state[0] - highest) * state[1];
  }
  const float inverse = 1.0f / warp_reduced_sum(weights);
  for (std::int32_t c = lane; c < task.head_dim; c += static_cast<std::int32_t>(warp_threads)) {
    float sum = 0;
#pragma unroll 4
    for (std::int32_t s = 0; s < task.splits; ++s) {
      const std::int64_t place = s * task.queries + query;
      const float scale = exp2_fast(task.state[place * 2] - highest);
      sum += scale * task.partial[place * task.head_dim + c];
    }
    static_cast<T*>(task.dst)[query * task.head_dim + c] = from_float<T>(sum * inverse);
  }
}

template <class T>
struct PlainOf {
  static DeviceFunction get(std::int64_t head_dim) {
    if (head_dim <= 32) return address_of_kernel(attention_plain<T, 1>);
    if (head_dim <= 64) return address_of_kernel(attention_plain<T, 2>);
    if (head_dim <= 128) return address_of_kernel(attention_plain<T, 4>);
    if (head_dim <= 256) return address_of_kernel(attention_plain<T, 8>);
    if (head_dim <= 512) return address_of_kernel(attention_plain<T, 16>);
    if (head_dim <= plain_head_dim_max) return address_of_kernel(attention_plain<T, 32>);
    return nullptr;
  }
};
template <class T>
struct CombineOf {
  static DeviceFunction get() { return address_of_kernel(attention_combine<T>); }
};

}  // namespace

DeviceFunction attention_plain_function(std::int64_t dtype, std::int64_t head_dim) {
  return for_float<PlainOf>(dtype, head_dim);
}
DeviceFunction attention_combine_function(std::int64_t dtype) {
  return for_float<CombineOf>(dtype);
}

}  // namespace hm_cuda
