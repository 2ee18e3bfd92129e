// The one place that chooses OpenCL's version, and turns its errors into those of the contract.
#pragma once

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_TARGET_OPENCL_VERSION 120

#include <CL/opencl.hpp>
#include <halmark_plugin.hpp>

#include <string>

namespace hm_opencl {

namespace plug = halmark::plugin;

// The contract's status for an error code of OpenCL.
constexpr std::int32_t status_of(cl_int error) {
  switch (error) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
      return HM_OUT_OF_MEMORY;
    case CL_COMPILER_NOT_AVAILABLE:
    case CL_BUILD_PROGRAM_FAILURE:
      return HM_COMPILE_FAILED;
    case CL_DEVICE_NOT_AVAILABLE:
      return HM_DEVICE_LOST;
    default:
      return HM_LAUNCH_FAILED;
  }
}

// Runs `body`; an error of the bindings leaves as the contract's, with the call that failed.
template <class Body>
decltype(auto) translated(Body&& body) {
  try {
    return body();
  } catch (const cl::Error& error) {
    throw plug::failure(
        status_of(error.err()),
        std::string(error.what()) + " failed with OpenCL error " + std::to_string(error.err()),
        error.err());
  }
}

}  // namespace hm_opencl
