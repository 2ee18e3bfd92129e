// Host side of the device code in kernels.cu. Each call queues on `stream` and returns what the
// launch said.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hm_cuda {

// Spins until *released >= ticket. After timeout_ns it gives up and writes its ticket to *expired.
// Both lie in host memory that the device sees.
cudaError_t launch_hold(cudaStream_t stream, const volatile std::uint64_t* released,
                        volatile std::uint64_t* expired, std::uint64_t ticket,
                        std::uint64_t timeout_ns);

// dst = src; both aligned to 16 bytes.
cudaError_t launch_copy(cudaStream_t stream, const void* src, void* dst, std::uint64_t bytes);

// Little-endian `pattern` over and over; dst is aligned to 4 bytes.
cudaError_t launch_fill(cudaStream_t stream, void* dst, std::uint64_t bytes, std::uint32_t pattern);

// dst[columns, rows] = src[rows, columns] transposed, one byte per element.
cudaError_t launch_transpose_bytes(cudaStream_t stream, const void* src, void* dst,
                                   std::uint64_t rows, std::uint64_t columns);

// dst = x after `iterations` times x = x * 0.5 + 0.25. dtype is HM_DTYPE_F32, _F64 or _F16;
// lanes_per_thread is 1, 4, 8 or 16. Anything else is cudaErrorInvalidValue.
cudaError_t launch_multiply_add(cudaStream_t stream, std::int64_t dtype,
                                std::int64_t lanes_per_thread, const void* x, void* dst,
                                std::uint64_t lanes, std::uint64_t iterations);

}  // namespace hm_cuda
