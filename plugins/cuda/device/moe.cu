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

// Experts of four neighbouring slots, counted from the first local one; what lies behind `end` is
// no expert.
constexpr int slots_per_lane = 4;
constexpr std::int64_t slots_per_step = slots_per_lane * std::int64_t{warp_threads};

GPU_DEVICE void load_experts(const PlacesTask& task, std::int64_t first, std::int64_t end,
                             std::int32_t (&experts)[slots_per_lane]) {
  if (first + slots_per_lane <= end) {
    load_raw<slots_per_lane>(task.expert_index + first, experts);
  } else {
#pragma unroll
    for (int c = 0; c < slots_per_lane; ++c) {
      experts[c] = first + c < end ? task.expert_index[first + c] : INT32_MIN;
    }
  }
#pragma unroll
  for (int c = 0; c < slots_per_lane; ++c) {
    experts[c] = experts[c] < 0 ? -1 : experts[c] - task.first_expert;
  }
}

struct Counts {
  std::int32_t own, below;  // rows of this block's expert, and of the local ones before it
};

GPU_DEVICE Counts count_run(const PlacesTask& task, std::int32_t own, unsigned lane,
                            std::int64_t begin, std::int64_t end) {
  Counts counts{};
#pragma unroll 4
  for (std::int64_t first = begin + slots_per_lane * lane; first < end; first += slots_per_step) {
    std::int32_t experts[slots_per_lane];
    load_experts(task, first, end, experts);
#pragma unroll
    for (int c = 0; c < slots_per_lane; ++c) {
      counts.own += experts[c] == own;
      counts.below += experts[c] >= 0 && experts[c] < own;
      const bool is_local = experts[c] >= 0 && experts[c] < task.local_experts;
      if (own == 0 && !is_local && task.row_of_slot != nullptr && first + c < end) {
        task.row_of_slot[first + c] = -1;
      }
    }
  }
  for (unsigned offset = warp_threads / 2; offset > 0; offset /= 2) {
    counts.own += __shfl_xor_sync(all_lanes, counts.own, offset);
    counts.below += __shfl_xor_sync(all_lanes, counts.below, offset);
  }
  return counts;
}

// Rows from `row` on for the slots of a run that are this expert's, in their order.
GPU_DEVICE void place_run(const PlacesTask& task, std::int32_t own, unsigned lane,
                          std::int64_t begin, std::int64_t end, std::int32_t row) {
  const unsigned lanes_before = (1u << lane) - 1u;
#pragma unroll 4
  for (std::int64_t base = begin; base < end; base += slots_per_step) {
    const std::int64_t first = base + slots_per_lane * lane;
    std::int32_t experts[slots_per_lane];
    load_experts(task, first, end, experts);
    std::int32_t before = 0, all = 0;
#pragma unroll
    for (int c = 0; c < slots_per_lane; ++c) {
      const unsigned mask = __ballot_sync(all_lanes, experts[c] == own);
      before += __popc(mask & lanes_before);
      all += __popc(mask);
    }
    if (all == 0) continue;
    std::int32_t place = row + before;
#pragma unroll
    for (int c = 0; c < slots_per_lane; ++c) {
      if (experts[c] != own) continue;
      // A row too many is as good as none: the table then disagrees with the problem's rows.
      const bool has_room = place < task.rows;
      if (task.row_of_slot != nullptr) task.row_of_slot[first + c] = has_room ? place : -1;
      if (task.token_of_row != nullptr && has_room) {
        task.token_of_row[place] = static_cast<std::int32_t>((first + c) / task.top_k);
      }
      ++place;
    }
    row += all;
  }
}

// A run of (token, slot) per warp: counted first, then placed behind those of earlier warps.
__global__ void places(PlacesTask task) {
  constexpr unsigned warps = places_threads / warp_threads;
  __shared__ Counts counts_of[warps];
  allow_next_launch();
  const std::int32_t own = static_cast<std::int32_t>(blockIdx.x);
  const unsigned lane = threadIdx.x % warp_threads, warp = threadIdx.x / warp_threads;
  const std::int64_t run =
      (task.slots + warps * slots_per_step - 1) / (warps * slots_per_step) * slots_per_step;
  const std::int64_t begin = warp * run;
  const std::int64_t end = begin + run < task.slots ? begin + run : task.slots;
  const Counts counted = count_run(task, own, lane, begin, end);
  if (lane == 0) counts_of[warp] = counted;
  __syncthreads();
  std::int32_t row = 0, total = 0;
  for (unsigned w = 0; w < warps; ++w) {
    row += counts_of[w].below + (w < warp ? counts_of[w].own : 0);
    total += counts_of[w].below + counts_of[w].own;
  }
  place_run(task, own, lane, begin, end, row);
  // Rows that the table leaves out are copies of the first token.
  if (own != task.local_experts - 1 || task.token_of_row == nullptr) return;
  for (std::int64_t i = total + static_cast<std::int64_t>(threadIdx.x); i < task.rows;
       i += places_threads) {
    task.token_of_row[i] = 0;
  }
}

// Several reads are under way before the first is written.
template <class Unit>
__global__ void dispatch(DispatchTask task) {
  wait_for_previous_launch();
  constexpr int together = dispatch_units_per_thread;
  const std::int64_t units = task.row_bytes / static_cast<std::int64_t>(sizeof(Unit));
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.y) * blockDim.x;
  for (std::int64_t row = blockIdx.x; row < task.rows; row += gridDim.x) {
    const Unit* src = static_cast<const Unit*>(task.src) + task.token_of_row[row] * units;
    Unit* dst = static_cast<Unit*>(task.dst) + row * units;
    std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
    for (; i + (together - 1) * stride < units; i += together * stride) {
      Unit value[together];
#pragma unroll
      for (int j = 0; j < together; ++j) value[j] = src[i + j * stride];
#pragma unroll
      for (int j = 0; j < together; ++j) dst[i + j * stride] = value[j];
    }
    for (; i < units; i += stride) dst[i] = src[i];
  }
}

template <class T, int N>
__global__ void combine(CombineTask task) {
  wait_for_previous_launch();
  const T* src = static_cast<const T*>(task.src);
  T* dst = static_cast<T*>(task.dst);
  const std::int64_t vectors = task.hidden / N;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.y) * blockDim.x;
  for (std::int64_t token = blockIdx.x; token < task.tokens; token += gridDim.x) {
    const std::int32_t* rows = task.row_of_slot + token * task.top_k;
    const float* weights = task.weight + token * task.top_k;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
         i < vectors; i += stride) {
      float sum[N] = {};
#pragma unroll 4
      for (std::int32_t slot = 0; slot < task.top_k; ++slot) {
        const std::int64_t row = rows[slot];
        if (row < 0) continue;
        const float weight = weights[slot];
        float x[N];
        load<N>(src + row * task.hidden + i * N, x);
#pragma unroll
        for (int j = 0; j < N; ++j) sum[j] += weight * x[j];
      }
      store<N>(dst + token * task.hidden + i * N, sum);
    }
  }
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
template <class T>
struct CombineOf {
  static DeviceFunction get(bool is_vector) {
    return is_vector ? address_of_kernel(combine<T, vector_width<T, T>>)
                     : address_of_kernel(combine<T, 1>);
  }
};

}  // namespace

DeviceFunction route_warp_function(std::int64_t src, std::int64_t per_lane) {
  return for_float<RouteWarpOf>(src, per_lane);
}
DeviceFunction route_block_function(std::int64_t src) { return for_float<RouteBlockOf>(src); }
DeviceFunction places_function() { return address_of_kernel(places); }
DeviceFunction dispatch_function(std::int64_t unit_bytes) {
  switch (unit_bytes) {
    case 16:
      return address_of_kernel(dispatch<uint4>);
    case 4:
      return address_of_kernel(dispatch<unsigned>);
    default:
      return address_of_kernel(dispatch<unsigned short>);
  }
}
DeviceFunction combine_function(std::int64_t dtype, bool is_vector) {
  return for_float<CombineOf>(dtype, is_vector);
}

}  // namespace hm_cuda
