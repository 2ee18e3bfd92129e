// Attention on 128-bit vectors.
#define HM_CPU_LANES 4
#define HM_CPU_MICRO_ROWS 4
#include "parts.hpp"

namespace hm_cpu {

const AttentionParts& attention_parts_generic() { return parts; }

}  // namespace hm_cpu
