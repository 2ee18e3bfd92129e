// Reductions over the threads of one row: a power of two of them, side by side in a block.
#pragma once

#include "gpu_runtime.hpp"

namespace hm_cuda {

constexpr unsigned warp_threads = 32, all_lanes = 0xffffffffu;

struct Sum {
  static constexpr float identity = 0;
  static GPU_DEVICE float of(float a, float b) { return a + b; }
};
struct Max {
  static constexpr float identity = -3.402823466e+38f;
  static GPU_DEVICE float of(float a, float b) { return fmaxf(a, b); }
};

// Every thread of the row gets the result. The row has blockDim.x threads: with at most 32 of them
// a block may hold several rows, blockDim.y; with more it holds one, and `shared` (32 floats) is
// used. All threads of the block call it.
template <class Op>
GPU_DEVICE float reduce_row(float x, float* shared) {
  const unsigned threads = blockDim.x;
  for (unsigned offset = (threads < warp_threads ? threads : warp_threads) / 2; offset > 0;
       offset /= 2) {
    x = Op::of(x, __shfl_xor_sync(all_lanes, x, offset));
  }
  if (threads <= warp_threads) return x;
  const unsigned lane = threadIdx.x % warp_threads, warp = threadIdx.x / warp_threads;
  if (lane == 0) shared[warp] = x;
  __syncthreads();
  x = lane < threads / warp_threads ? shared[lane] : Op::identity;
  for (unsigned offset = warp_threads / 2; offset > 0; offset /= 2) {
    x = Op::of(x, __shfl_xor_sync(all_lanes, x, offset));
  }
  __syncthreads();  // `shared` is free for the next reduction
  return x;
}

}  // namespace hm_cuda
