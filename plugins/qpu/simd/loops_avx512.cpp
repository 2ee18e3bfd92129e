// The loops on 512-bit vectors.
#define HM_QPU_BYTES 64
#define HM_QPU_ISA "avx512_core"
#include "loops.hpp"

namespace hm_qpu {

extern const AllLoops loops_avx512 = {table<float>, table<double>};

}  // namespace hm_qpu
