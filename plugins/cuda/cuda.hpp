// Errors of the CUDA runtime as statuses of the contract.
#pragma once

#include <cuda_runtime_api.h>
#include <halmark_plugin.hpp>

#include <string>

namespace hm_cuda {

namespace plug = halmark::plugin;

// After these the context is spoiled: every later call in the process fails too.
constexpr bool loses_device(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorMisalignedAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchTimeout:
    case cudaErrorECCUncorrectable:
    case cudaErrorDevicesUnavailable:
      return true;
    default:
      return false;
  }
}

constexpr std::int32_t status_of(cudaError_t error) {
  if (loses_device(error)) return HM_DEVICE_LOST;
  switch (error) {
    case cudaErrorMemoryAllocation:
      return HM_OUT_OF_MEMORY;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
      return HM_COMPILE_FAILED;
    default:
      return HM_LAUNCH_FAILED;
  }
}

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // an error that is not sticky must not be met again by the next call
  throw plug::failure(status_of(error), std::string(what) + ": " + cudaGetErrorString(error),
                      error);
}

[[noreturn]] inline void unsupported(const std::string& reason) {
  throw plug::failure(HM_UNSUPPORTED, reason);
}

}  // namespace hm_cuda
