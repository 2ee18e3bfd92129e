// The default for kernels that keep constants as they come: packing is then a copy.
#include "kernel.hpp"

#include <cstring>

namespace hm_cpu {

void Prepared::load_constants(void* const* packed, const void* const* plain) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].role != HM_ROLE_CONSTANT) continue;
    std::memcpy(packed[i], plain[i], plain_bytes(operands[i]));
  }
}

}  // namespace hm_cpu
