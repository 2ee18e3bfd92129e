// The experts of each token and their weights.
#include "moe.hpp"

#include "instances.hpp"
#include "reduce.cuh"

namespace hm_cuda {
namespace {

// Logits in the order of the selection: larger first, then the lower index. No two experts have the
// same key, so "the largest below the last one" finds them one after the other.
using Key = unsigned long long;

GPU_DEVICE Key key_of(float logit, std::uint32_t expert) {
  const std::uint32_t bits = __float_as_uint(logit + 0.0f);  // -0 counts as 0
  const std::uint32_t ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<Key>(ordered) << 32 | (0xffffffffu - expert);
}
GPU_DEVICE float logit_of(Key key) {
  const std::uint32_t ordered = static_cast<std::uint32_t>(key >> 32);
  return __uint_as_float(ordered & 0x80000000u ? ordered & 0x7fffffffu : ~ordered);
}
GPU_DEVICE std::int32_t expert_of(Key key) {
  return static_cast<std::int32_t>(0xffffffffu - static_cast<std::uint32_t>(key));
}

GPU_DEVICE Key warp_max(Key key) {
  for (unsigned offset = warp_threads / 2; offset > 0; offset /= 2) {
    const Key other = __shfl_xor_sync(all_lanes, key, offset);
    key = other > key ? other : key;
  }
  return key;
}
GPU_DEVICE float warp_sum(float x) {
  for (unsigned offset = warp_threads / 2; offset > 0; offset /= 2) {
    x += __shfl_xor_sync(all_lanes, x, offset);
  }
  return x;
}

// A score before it is divided: e^(x - top) of a softmax, or a sigmoid.
GPU_DEVICE float score_of(float x, float top, bool is_sigmoid) {
  return is_sigmoid ? 1.0f / (1.0f + __expf(-x)) : __expf(x - top);
}

// Slots of one token, filled by a team of threads that all call everything. Thread slot % team
// writes a slot and comes back for its division.
struct Slots {
  std::int32_t* index;
  float* weight;
  std::int32_t top_k;
  unsigned thread, team;
  bool is_sigmoid;
  float top = 0, sum = 0;

  GPU_DEVICE void put(std::int32_t slot, Key key) {
    const float x = logit_of(key);
    if (slot == 0) top = x;
    const float score = score_of(x, top, is_sigmoid);
    sum += score;
    if (static_cast<unsigned>(slot) % team != thread) return;
    index[slot] = expert_of(key);
    weight[slot] = score;
  }
  GPU_DEVICE void divide(float divisor) const {
    for (std::int32_t slot = static_cast<std::int32_t>(thread); slot < top_k;
         slot += static_cast<std::int32_t>(team)) {
      weight[slot] /= divisor;
    }
  }
};

template <class Src, int PerLane>
__global__ void route_warp(RouteTask task) {
  const unsigned lane = threadIdx.x % warp_threads;
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_threads) +
                             threadIdx.x / warp_threads;
  if (token >= task.tokens) return;
  const Src* logits = static_cast<const Src*>(task.logits) + token * task.experts;
  Key keys[PerLane];
#pragma unroll
  for (int i = 0; i < PerLane; ++i) {
    const unsigned expert = lane + static_cast<unsigned>(i) * warp_threads;
    const bool is_one = expert < static_cast<unsigned>(task.experts);
    keys[i] = is_one ? key_of(to_float(logits[expert]), expert) : 0;
  }
  Slots slots{task.index + token * task.top_k,
              task.weight + token * task.top_k,
              task.top_k,
              lane,
              warp_threads,
              task.is_sigmoid};
  Key last = ~Key{0};
  for (std::int32_t slot = 0; slot < task.top_k; ++slot) {
    Key best = 0;
#pragma unroll
    for (int i = 0; i < PerLane; ++i) {
      if (keys[i] < last && keys[i] > best) best = keys[i];
    }
    last = warp_max(best);
    slots.put(slot, last);
  }
  if (task.renormalizes) return slots.divide(slots.sum);
  if (task.is_sigmoid) return;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < PerLane; ++i) {
    if (keys[i] != 0) sum += __expf(logit_of(keys[i]) - slots.top);
  }
  slots.divide(warp_sum(sum));
}

constexpr unsigned route_block_threads = 256;

template <class Src>
__global__ void route_block(RouteTask task) {
  constexpr unsigned warps = route_block_threads / warp_threads;
  __shared__ Key best_of_warp[warps];
  __shared__ float shared[warp_threads];
  const std::int64_t token = blockIdx.x;
  const Src* logits = static_cast<const Src*>(task.logits) + token * task.experts;
  Slots slots{task.index + token * task.top_k,
              task.weight + token * task.top_k,
              task.top_k,
              threadIdx.x,
              route_block_threads,
              task.is_sigmoid};
  Key last = ~Key{0};
  for (std::int32_t slot = 0; slot < task.top_k; ++slot) {
    Key best = 0;
    for (std::int32_t e = static_cast<std::int32_t>(threadIdx.x); e < task.experts;
         e += static_cast<std::int32_t>(route_block_threads)) {
      const Key key = key_of(to_float(logits[e]), static_cast<std::uint32_t>(e));
      if (key < last && key > best) best = key;
    }
    best = warp_max(best);
    if (threadIdx.x % warp_threads == 0) best_of_warp[threadIdx.x / warp_threads] = best;
    __syncthreads();
    last = best_of_warp[0];
    for (unsigned w = 1; w < warps; ++w) last = best_of_warp[w] > last ? best_of_warp[w] : last;
    __syncthreads();
    slots.put(slot, last);
  }
  if (task.renormalizes) return slots.divide(slots.sum);
  if (task.is_sigmoid) return;
  float sum = 0;
  for (std::int32_t e = static_cast<std::int32_t>(threadIdx.x); e < task.experts;
       e += static_cast<std::int32_t>(route_block_threads)) {
    sum += __expf(to_float(logits[e]) - slots.top);
  }
  slots.divide(reduce_row<Sum>(sum, shared));
}

template <class Src>
struct RouteWarpOf {
  static DeviceFunction get(std::int64_t per_lane) {
    switch (per_lane) {
      case 1:
        return address_of_kernel(route_warp<Src, 1>);
      case 2:
        return address_of_kernel(route_warp<Src, 2>);
      case 4:
        return address_of_kernel(route_warp<Src, 4>);
      case 8:
        return address_of_kernel(route_warp<Src, 8>);
      case 16:
        return address_of_kernel(route_warp<Src, 16>);
      case 32:
        return address_of_kernel(route_warp<Src, 32>);
      default:
        return nullptr;
    }
  }
};
template <class Src>
struct RouteBlockOf {
  static DeviceFunction get() { return address_of_kernel(route_block<Src>); }
};
}  // namespace

DeviceFunction route_warp_function(std::int64_t src, std::int64_t per_lane) {
  return for_float<RouteWarpOf>(src, per_lane);
}
DeviceFunction route_block_function(std::int64_t src) { return for_float<RouteBlockOf>(src); }

}  // namespace hm_cuda
