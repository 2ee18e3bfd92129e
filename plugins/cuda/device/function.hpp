// The name of a kernel's instance on the host's side.
#pragma once

#include <cstdint>

namespace hm_cuda {

// The address by which the host launches it; nullptr = there is no instance for these types.
using DeviceFunction = const void*;

// Of a block that works on rows: more registers than so many threads can have are not given out.
constexpr int row_threads_max = 1024;

}  // namespace hm_cuda
