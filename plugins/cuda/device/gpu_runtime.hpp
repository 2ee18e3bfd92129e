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
