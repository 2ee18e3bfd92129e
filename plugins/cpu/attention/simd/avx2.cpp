// Attention on 256-bit vectors.
#define HM_CPU_LANES 8
#define HM_CPU_MICRO_ROWS 6
#include "parts.hpp"

namespace hm_cpu {

const AttentionParts& attention_parts_avx2() { return parts; }

}  // namespace hm_cpu
