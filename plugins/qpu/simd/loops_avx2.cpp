// The loops on 256-bit vectors.
#define HM_QPU_BYTES 32
#define HM_QPU_ISA "avx2"
#include "loops.hpp"

namespace hm_qpu {

extern const AllLoops loops_avx2 = {table<float>, table<double>};

}  // namespace hm_qpu
