// Attention without tensor cores, for every type and width of head, and the pass that adds splits
// up.
#include "attention_rows.hpp"
#include "instances.hpp"
#include "mma.hpp"
#include "reduce.hpp"

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

// Lane = key while scores are made, lane = column while values are added.
template <class T, int Columns>
__global__ void attention_plain(AttentionTask task) {
  __shared__ float keys_piece[step][piece + 1];
  __shared__ float query_piece[plain_warps_max][piece];
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

  float sum[Columns] = {}, highest = no_score, weights = 0;
  for (std::int32_t base = range.begin; base < range.end; base += step) {
    float score = 0;
    for (std::int32_t column = 0; column < width; column += piece) {
      __syncthreads();  // the piece before is no longer read
      for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x); i < step * piece;
           i += static_cast<std::int32_t>(blockDim.x)) {
        const std::int32_t key = base + i / piece, c = column + i % piece;
        const bool is_there = key < range.end && c < width;
        keys_piece[i / piece][i % piece] =
            is_there ? to_float(k[static_cast<std::int64_t>(key) * width + c]) : 0.0f;
      }
      for (std::int32_t c = lane; c < piece; c += static_cast<std::int32_t>(warp_threads)) {
        query_piece[warp][c] = column + c < width ? to_float(q[column + c]) : 0.0f;
      }
      __syncthreads();
#pragma unroll 16
      for (int c = 0; c < piece; ++c) score += query_piece[warp][c] * keys_piece[lane][c];
    }
    const std::int32_t key = base + lane;
    const bool is_seen = key >= own.begin && key < own.end && key < range.end;
    score = is_seen ? score * task.scale_log2 : -INFINITY;
    const float before = highest;
    highest = fmaxf(highest, warp_reduced_max(score));
    const float correction = exp2_fast(before - highest), p = exp2_fast(score - highest);
    weights = weights * correction + warp_reduced_sum(p);
#pragma unroll
    for (int i = 0; i < Columns; ++i) sum[i] *= correction;
    const std::int32_t count = range.end - base < step ? range.end - base : step;
    for (std::int32_t j = 0; j < count; ++j) {
      const float weight = __shfl_sync(all_lanes, p, j);
      const T* value = v + static_cast<std::int64_t>(base + j) * width;
#pragma unroll
      for (int i = 0; i < Columns; ++i) {
        const std::int32_t c = lane + i * static_cast<std::int32_t>(warp_threads);
        if (c < width) sum[i] += weight * to_float(value[c]);
      }
    }
  }
  if (!is_live) return;
  const std::int64_t place = blockIdx.y * task.queries + query;
  const float inverse = task.splits == 1 ? 1.0f / weights : 1.0f;
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

template <class T>
__global__ void attention_combine(AttentionTask task) {
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
