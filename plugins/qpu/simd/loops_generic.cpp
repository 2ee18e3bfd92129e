// The loops on 128-bit vectors.
#define HM_QPU_BYTES 16
#define HM_QPU_ISA ""
#include "loops.hpp"

namespace hm_qpu {

extern const AllLoops loops_generic = {table<float>, table<double>};

}  // namespace hm_qpu
