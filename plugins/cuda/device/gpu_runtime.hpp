// The runtime's names that device code uses, so that another runtime of the same shape can stand in
// for CUDA's: everything below device/ includes this and no vendor header of its own.
#pragma once

#if defined(__HIPCC__)
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#else
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#endif

#include <cstdint>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define GPU_INLINE __host__ __device__ __forceinline__
#define GPU_DEVICE __device__ __forceinline__
#else
#define GPU_INLINE inline
#endif

// Tensor-core products by mma.sync and asynchronous copies into shared memory.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define HM_CUDA_MMA 1
#else
#define HM_CUDA_MMA 0
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
namespace hm_cuda {

// Of two launches of one execution the second may be set up while the first still runs: the first
// says early that it may, and the second waits for all that the first has written. Nothing
// elsewhere than on sm_90 and later.
GPU_DEVICE void allow_next_launch() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
GPU_DEVICE void wait_for_previous_launch() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace hm_cuda
#endif
