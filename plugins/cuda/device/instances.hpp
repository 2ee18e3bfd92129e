// From element types by number to instances of a kernel.
#pragma once

#include <halmark_plugin.h>

#include "elements.hpp"
#include "function.hpp"

namespace hm_cuda {

template <template <class> class Pick, class... Arguments>
DeviceFunction for_float(std::int64_t dtype, Arguments... arguments) {
  switch (dtype) {
    case HM_DTYPE_F32:
      return Pick<float>::get(arguments...);
    case HM_DTYPE_BF16:
      return Pick<bf16>::get(arguments...);
    case HM_DTYPE_F16:
      return Pick<f16>::get(arguments...);
    default:
      return nullptr;
  }
}

template <template <class, class> class Pick, class Src, class... Arguments>
DeviceFunction for_target(std::int64_t dst, Arguments... arguments) {
  switch (dst) {
    case HM_DTYPE_F32:
      return Pick<Src, float>::get(arguments...);
    case HM_DTYPE_BF16:
      return Pick<Src, bf16>::get(arguments...);
    case HM_DTYPE_F16:
      return Pick<Src, f16>::get(arguments...);
    default:
      return nullptr;
  }
}

template <template <class, class> class Pick, class... Arguments>
DeviceFunction for_floats(std::int64_t src, std::int64_t dst, Arguments... arguments) {
  switch (src) {
    case HM_DTYPE_F32:
      return for_target<Pick, float>(dst, arguments...);
    case HM_DTYPE_BF16:
      return for_target<Pick, bf16>(dst, arguments...);
    case HM_DTYPE_F16:
      return for_target<Pick, f16>(dst, arguments...);
    default:
      return nullptr;
  }
}

// The address by which the host launches a kernel.
template <class Task>
DeviceFunction address_of_kernel(void (*kernel)(Task)) {
  return reinterpret_cast<DeviceFunction>(kernel);
}

}  // namespace hm_cuda
