#include "kernels.hpp"

#include <cuda_fp16.h>
#include <halmark_plugin.h>

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

__global__ void copy(const uint4* src, uint4* dst, std::uint64_t vectors, std::uint64_t bytes) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::uint64_t i = first; i < vectors; i += stride) dst[i] = src[i];
  const std::uint64_t tail = vectors * sizeof(uint4) + first;
  if (tail < bytes) {
    reinterpret_cast<unsigned char*>(dst)[tail] = reinterpret_cast<const unsigned char*>(src)[tail];
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

template <class T, int Lanes>
__global__ void multiply_add(const T* x, T* dst, std::uint64_t lanes, std::uint64_t iterations) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  T value[Lanes];
#pragma unroll
  for (int l = 0; l < Lanes; ++l) {
    const std::uint64_t at = first + static_cast<std::uint64_t>(l) * stride;
    value[l] = at < lanes ? x[at] : T(0.0f);
  }
  for (std::uint64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int l = 0; l < Lanes; ++l) value[l] = multiply_add_once(value[l]);
  }
#pragma unroll
  for (int l = 0; l < Lanes; ++l) {
    const std::uint64_t at = first + static_cast<std::uint64_t>(l) * stride;
    if (at < lanes) dst[at] = value[l];
  }
}

unsigned blocks_for(std::uint64_t threads, std::uint64_t blocks_max) {
  const std::uint64_t blocks = (threads + block_threads - 1) / block_threads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > blocks_max ? blocks_max : blocks);
}

template <class T, int Lanes>
cudaError_t launch_lanes(cudaStream_t stream, const void* x, void* dst, std::uint64_t lanes,
                         std::uint64_t iterations) {
  const std::uint64_t threads = (lanes + Lanes - 1) / Lanes;
  const std::uint64_t blocks = (threads + block_threads - 1) / block_threads;
  if (blocks > 0x7fffffffu) return cudaErrorInvalidConfiguration;
  multiply_add<T, Lanes><<<static_cast<unsigned>(blocks), block_threads, 0, stream>>>(
      static_cast<const T*>(x), static_cast<T*>(dst), lanes, iterations);
  return cudaGetLastError();
}

template <class T>
cudaError_t launch_dtype(cudaStream_t stream, std::int64_t lanes_per_thread, const void* x,
                         void* dst, std::uint64_t lanes, std::uint64_t iterations) {
  switch (lanes_per_thread) {
    case 1:
      return launch_lanes<T, 1>(stream, x, dst, lanes, iterations);
    case 4:
      return launch_lanes<T, 4>(stream, x, dst, lanes, iterations);
    case 8:
      return launch_lanes<T, 8>(stream, x, dst, lanes, iterations);
    case 16:
      return launch_lanes<T, 16>(stream, x, dst, lanes, iterations);
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
      return launch_dtype<__half>(stream, lanes_per_thread, x, dst, lanes, iterations);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace hm_cuda
