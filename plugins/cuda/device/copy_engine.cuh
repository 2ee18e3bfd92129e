// Hopper's copy engine (sm_90): boxes of tensors into shared memory, counted by barriers there.
#pragma once

#include "function.hpp"
#include "gpu_runtime.hpp"

namespace hm_cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define HM_CUDA_COPY_ENGINE 1
#else
#define HM_CUDA_COPY_ENGINE 0
#endif

// In shared memory. A phase ends when all have arrived and all bytes that were expected are there.
class Barrier {
 public:
  GPU_DEVICE void begin(std::uint32_t arrivals) {
#if HM_CUDA_COPY_ENGINE
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals)
                 : "memory");
#endif
  }
  GPU_DEVICE void arrive() {
#if HM_CUDA_COPY_ENGINE
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory");
#endif
  }
  GPU_DEVICE void arrive_expecting(std::uint32_t bytes) {
#if HM_CUDA_COPY_ENGINE
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()),
                 "r"(bytes)
                 : "memory");
#endif
  }
  // Until the phase of this parity has ended; the one before the first has parity 1.
  GPU_DEVICE void wait(std::uint32_t parity) const {
#if HM_CUDA_COPY_ENGINE
    asm volatile(
        "{.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;}" ::"r"(address()),
        "r"(parity)
        : "memory");
#endif
  }
  GPU_DEVICE std::uint32_t address() const {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(&state_));
  }

 private:
  std::uint64_t state_;
};

// The copy engine sees barriers that this thread has begun.
GPU_DEVICE void show_barriers() {
#if HM_CUDA_COPY_ENGINE
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

// The box at (x, y, z) of a tensor of three dims; zeros where it reaches out of the tensor.
GPU_DEVICE void copy_box(void* to, const TensorMap& tensor, const Barrier& barrier, int x, int y,
                         int z) {
#if HM_CUDA_COPY_ENGINE
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%3, %4, %5}], [%2];" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
      "l"(&tensor), "r"(barrier.address()), "r"(x), "r"(y), "r"(z)
      : "memory");
#endif
}

}  // namespace hm_cuda
