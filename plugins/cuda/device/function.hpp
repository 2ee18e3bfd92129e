// What the host hands to a launch beside the task itself: the instance's name, and tensors.
#pragma once

#include <cstdint>

namespace hm_cuda {

// The address by which the host launches it; nullptr = there is no instance for these types.
using DeviceFunction = const void*;

// What the driver makes of a tensor for Hopper's copy engine (CUtensorMap).
struct alignas(128) TensorMap {
  unsigned char bytes[128];
};

// Of a block that works on rows: more registers than so many threads can have are not given out.
constexpr int row_threads_max = 1024;

}  // namespace hm_cuda
