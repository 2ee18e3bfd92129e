// Rows to the experts and back: where each lies, and moving them.
#include "moe.hpp"

#include "instances.hpp"
#include "reduce.cuh"

namespace hm_cuda {
namespace {

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
__global__ void __launch_bounds__(places_threads) places(PlacesTask task) {
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
__global__ void __launch_bounds__(row_threads_max) dispatch(DispatchTask task) {
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
__global__ void __launch_bounds__(row_threads_max) combine(CombineTask task) {
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

template <class T>
struct CombineOf {
  static DeviceFunction get(bool is_vector) {
    return is_vector ? address_of_kernel(combine<T, vector_width<T, T>>)
                     : address_of_kernel(combine<T, 1>);
  }
};

}  // namespace

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
