// The name of a kernel's instance on the host's side.
#pragma once

#include <cstdint>

namespace hm_cuda {

// The address of its host stub; nullptr = there is no instance for these types.
using DeviceFunction = const void*;

}  // namespace hm_cuda
