// Which of a plugin's kernels runs a problem, and with which parameter values.
#pragma once

#include <cstdint>
#include <string>

#include "worker/device_context.hpp"

namespace halmark::worker {

struct KernelChoice {
  std::uint32_t index = 0;
  std::string name;
  Config config;  // labels resolved to the integers of this library version
  const Communicator* communicator = nullptr;
};

// `name` empty: the first kernel of the op that supports the problem. Throws RequestFailed with the
// plugin's reason (HM_UNSUPPORTED) or with the known names (HM_INVALID_ARGUMENT).
KernelChoice choose_kernel(DeviceContext& context, const std::string& name, const Problem& problem,
                           const Config& config);

// Index of a kernel by name; throws RequestFailed with the known names.
std::uint32_t kernel_index(const DeviceContext& context, const std::string& name);

}  // namespace halmark::worker
