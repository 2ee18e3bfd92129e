#include "kernels.hpp"

#include <cuda_fp16.h>
#include <halmark_plugin.h>

#include <type_traits>

namespace hm_cuda {
namespace {

constexpr unsigned block_threads = 256;
constexpr unsigned tile = 32, tile_rows = 8;

__device__ std::uint64_t now_ns() {
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}

__global__ void hold(const volatile std::uint64_t* released, volatile std::uint64_t* expired,
                     std::uint64_t ticket, std::uint64_t timeout_ns) {
  const std::uint64_t begin_ns = now_ns();
  while (*released < ticket) {
    if (now_ns() - begin_ns > timeout_ns) {
      *expired = ticket;
      __threadfence_system();
      return;
    }
  }
}

// Four reads are under way before the first is written.
__global__ void copy(const uint4* src, uint4* dst, std::uint64_t vectors, std::uint64_t bytes) {
  constexpr int together = 4;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::uint64_t i = first;
  for (; i + (together - 1) * stride < vectors; i += together * stride) {
    uint4 value[together];
#pragma unroll
    for (int j = 0; j < together; ++j) value[j] = __ldcs(src + i + j * stride);
#pragma unroll
    for (int j = 0; j < together; ++j) __stcs(dst + i + j * stride, value[j]);
  }
  for (; i < vectors; i += stride) dst[i] = src[i];
  const std::uint64_t tail = vectors * sizeof(uint4) + first;
  if (tail < bytes) {
    reinterpret_cast<unsigned char*>(dst)[tail] = reinterpret_cast<const unsigned char*>(src)[tail];
  }
}

__global__ void fill(unsigned* dst, std::uint64_t words, std::uint64_t bytes, unsigned pattern) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::uint64_t i = first; i < words; i += stride) dst[i] = pattern;
  const std::uint64_t tail = words * sizeof(unsigned) + first;
  if (tail < bytes) {
    reinterpret_cast<unsigned char*>(dst)[tail] =
        static_cast<unsigned char>(pattern >> (8 * first));
  }
}

// Through shared memory, so that reads and writes are both coalesced; one column of padding keeps
// the banks apart.
__global__ void transpose_bytes(const unsigned char* src, unsigned char* dst, std::uint64_t rows,
                                std::uint64_t columns) {
  __shared__ unsigned char block[tile][tile + 1];
  const std::uint64_t column = std::uint64_t{blockIdx.x} * tile + threadIdx.x;
  for (std::uint64_t first_row = std::uint64_t{blockIdx.y} * tile; first_row < rows;
       first_row += std::uint64_t{gridDim.y} * tile) {
    for (unsigned y = threadIdx.y; y < tile; y += tile_rows) {
      if (first_row + y < rows && column < columns) {
        block[y][threadIdx.x] = src[(first_row + y) * columns + column];
      }
    }
    __syncthreads();
    const std::uint64_t row = first_row + threadIdx.x;
    for (unsigned y = threadIdx.y; y < tile; y += tile_rows) {
      const std::uint64_t turned = std::uint64_t{blockIdx.x} * tile + y;
      if (turned < columns && row < rows) dst[turned * rows + row] = block[threadIdx.x][y];
    }
    __syncthreads();
  }
}

__device__ float multiply_add_once(float x) { return fmaf(x, 0.5f, 0.25f); }
__device__ double multiply_add_once(double x) { return fma(x, 0.5, 0.25); }
__device__ __half multiply_add_once(__half x) {
  return __hfma(x, __float2half(0.5f), __float2half(0.25f));
}
__device__ __half2 multiply_add_once(__half2 x) {
  return __hfma2(x, __float2half2_rn(0.5f), __float2half2_rn(0.25f));
}

// Element `at` of `count`; of pairs the second half may lie behind the last lane.
template <class T>
__device__ T lane_of(const T* x, std::uint64_t at, std::uint64_t lanes) {
  return at < lanes ? x[at] : T(0.0f);
}
__device__ __half2 lane_of(const __half2* x, std::uint64_t at, std::uint64_t lanes) {
  if (2 * at + 1 < lanes) return x[at];
  const __half low = 2 * at < lanes ? reinterpret_cast<const __half*>(x)[2 * at] : __half(0.0f);
  return __half2(low, __half(0.0f));
}
template <class T>
__device__ void put_lane(T* dst, T value, std::uint64_t at, std::uint64_t lanes) {
  if (at < lanes) dst[at] = value;
}
__device__ void put_lane(__half2* dst, __half2 value, std::uint64_t at, std::uint64_t lanes) {
  if (2 * at + 1 < lanes) {
    dst[at] = value;
  } else if (2 * at < lanes) {
    reinterpret_cast<__half*>(dst)[2 * at] = __low2half(value);
  }
}

// Count chains per thread, each of one lane, or of two in a pair. Rounds are unrolled so far that
// the loop's own instructions do not count.
template <class T, int Count>
__global__ void multiply_add(const T* x, T* dst, std::uint64_t lanes, std::uint64_t iterations) {
  constexpr std::uint64_t rounds = 512 / Count;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  T value[Count];
#pragma unroll
  for (int l = 0; l < Count; ++l) {
    value[l] = lane_of(x, first + static_cast<std::uint64_t>(l) * stride, lanes);
  }
  std::uint64_t i = 0;
  for (; i + rounds <= iterations; i += rounds) {
#pragma unroll
    for (int r = 0; r < static_cast<int>(rounds); ++r) {
#pragma unroll
      for (int l = 0; l < Count; ++l) value[l] = multiply_add_once(value[l]);
    }
  }
  for (; i < iterations; ++i) {
#pragma unroll
    for (int l = 0; l < Count; ++l) value[l] = multiply_add_once(value[l]);
  }
#pragma unroll
  for (int l = 0; l < Count; ++l) {
    put_lane(dst, value[l], first + static_cast<std::uint64_t>(l) * stride, lanes);
  }
}

unsigned blocks_for(std::uint64_t threads, std::uint64_t blocks_max) {
  const std::uint64_t blocks = (threads + block_threads - 1) / block_threads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > blocks_max ? blocks_max : blocks);
}

template <class T, int Count>
cudaError_t launch_chains(cudaStream_t stream, const void* x, void* dst, std::uint64_t lanes,
                          std::uint64_t iterations) {
  constexpr std::uint64_t lanes_per_thread = Count * (std::is_same<T, __half2>::value ? 2 : 1);
  const std::uint64_t threads = (lanes + lanes_per_thread - 1) / lanes_per_thread;
  const std::uint64_t blocks = (threads + block_threads - 1) / block_threads;
  if (blocks > 0x7fffffffu) return cudaErrorInvalidConfiguration;
  multiply_add<T, Count><<<static_cast<unsigned>(blocks), block_threads, 0, stream>>>(
      static_cast<const T*>(x), static_cast<T*>(dst), lanes, iterations);
  return cudaGetLastError();
}

template <class T>
cudaError_t launch_dtype(cudaStream_t stream, std::int64_t chains, const void* x, void* dst,
                         std::uint64_t lanes, std::uint64_t iterations) {
  switch (chains) {
    case 1:
      return launch_chains<T, 1>(stream, x, dst, lanes, iterations);
    case 2:
      return launch_chains<T, 2>(stream, x, dst, lanes, iterations);
    case 4:
      return launch_chains<T, 4>(stream, x, dst, lanes, iterations);
    case 8:
      return launch_chains<T, 8>(stream, x, dst, lanes, iterations);
    case 16:
      return launch_chains<T, 16>(stream, x, dst, lanes, iterations);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

cudaError_t launch_hold(cudaStream_t stream, const volatile std::uint64_t* released,
                        volatile std::uint64_t* expired, std::uint64_t ticket,
                        std::uint64_t timeout_ns) {
  hold<<<1, 1, 0, stream>>>(released, expired, ticket, timeout_ns);
  return cudaGetLastError();
}

cudaError_t launch_copy(cudaStream_t stream, const void* src, void* dst, std::uint64_t bytes) {
  // Enough blocks for every device of today; each thread then walks on by the width of the grid.
  constexpr std::uint64_t blocks_max = 4096;
  const std::uint64_t vectors = bytes / sizeof(uint4);
  copy<<<blocks_for(vectors, blocks_max), block_threads, 0, stream>>>(
      static_cast<const uint4*>(src), static_cast<uint4*>(dst), vectors, bytes);
  return cudaGetLastError();
}

cudaError_t launch_fill(cudaStream_t stream, void* dst, std::uint64_t bytes,
                        std::uint32_t pattern) {
  constexpr std::uint64_t blocks_max = 4096;
  const std::uint64_t words = bytes / sizeof pattern;
  fill<<<blocks_for(words, blocks_max), block_threads, 0, stream>>>(static_cast<unsigned*>(dst),
                                                                    words, bytes, pattern);
  return cudaGetLastError();
}

cudaError_t launch_transpose_bytes(cudaStream_t stream, const void* src, void* dst,
                                   std::uint64_t rows, std::uint64_t columns) {
  constexpr std::uint64_t grid_y_max = 65535;
  const std::uint64_t across = (columns + tile - 1) / tile, down = (rows + tile - 1) / tile;
  if (across > 0x7fffffffu) return cudaErrorInvalidConfiguration;
  const dim3 grid(static_cast<unsigned>(across),
                  static_cast<unsigned>(down < grid_y_max ? down : grid_y_max));
  transpose_bytes<<<grid, dim3(tile, tile_rows), 0, stream>>>(
      static_cast<const unsigned char*>(src), static_cast<unsigned char*>(dst), rows, columns);
  return cudaGetLastError();
}

cudaError_t launch_multiply_add(cudaStream_t stream, std::int64_t dtype,
                                std::int64_t lanes_per_thread, const void* x, void* dst,
                                std::uint64_t lanes, std::uint64_t iterations) {
  switch (dtype) {
    case HM_DTYPE_F32:
      return launch_dtype<float>(stream, lanes_per_thread, x, dst, lanes, iterations);
    case HM_DTYPE_F64:
      return launch_dtype<double>(stream, lanes_per_thread, x, dst, lanes, iterations);
    case HM_DTYPE_F16:
      if (lanes_per_thread == 1) {
        return launch_chains<__half, 1>(stream, x, dst, lanes, iterations);
      }
      return launch_dtype<__half2>(stream, lanes_per_thread / 2, x, dst, lanes, iterations);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace hm_cuda
