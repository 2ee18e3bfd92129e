// Attention on 512-bit vectors.
#define HM_CPU_LANES 16
#define HM_CPU_MICRO_ROWS 12
#include "parts.hpp"

namespace hm_cpu {

const AttentionParts& attention_parts_avx512() { return parts; }

}  // namespace hm_cpu
