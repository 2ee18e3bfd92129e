// The loops on 128-bit vectors.
#define HM_CPU_LANES 4
#define HM_CPU_MICRO_ROWS 4
#include "simd_panel.hpp"
#include "simd_rows.hpp"
#include "simd_stream.hpp"

namespace hm_cpu {

extern const SimdLoops simd_generic = {
    .isa = Isa::generic, .rows = &row_loops, .panels = &panel_loops, .streams = &stream_loops};

}  // namespace hm_cpu
