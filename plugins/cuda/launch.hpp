// How device code is named, sized and started from the host's side: every kernel takes one struct
// by value, and is found by a function that knows its instances.
#pragma once

#include "cuda.hpp"
#include "device/function.hpp"

namespace hm_cuda {

struct Launch {
  DeviceFunction function = nullptr;
  dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::size_t shared_bytes = 0;
  // Set up while the launch before it ends; its code then waits (wait_for_previous_launch).
  bool overlaps_previous = false;
};

// Loads the code to the device and allows the shared memory: what a first launch would do later,
// where it could wait for a held stream.
inline void make_ready(const Launch& launch) {
  constexpr std::size_t shared_bytes_plain = 48 * 1024;
  if (launch.function == nullptr) throw plug::failure(HM_INTERNAL, "a kernel without an instance");
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, launch.function), "loading a kernel");
  if (launch.shared_bytes > shared_bytes_plain) {
    check(cudaFuncSetAttribute(launch.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(launch.shared_bytes)),
          "shared memory of a kernel");
  }
}

template <class Task>
void start(cudaStream_t stream, const Launch& launch, const Task& task) {
  void* arguments[] = {const_cast<Task*>(&task)};  // read alone, before this returns
  if (launch.overlaps_previous) {
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = launch.grid;
    config.blockDim = launch.block;
    config.dynamicSmemBytes = launch.shared_bytes;
    config.stream = stream;
    config.attrs = &overlap;
    config.numAttrs = 1;
    check(cudaLaunchKernelExC(&config, launch.function, arguments), "the launch of a kernel");
    return;
  }
  check(cudaLaunchKernel(launch.function, launch.grid, launch.block, arguments, launch.shared_bytes,
                         stream),
        "the launch of a kernel");
}

}  // namespace hm_cuda
