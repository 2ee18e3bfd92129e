// The loops on 128-bit vectors of 64-bit Arm with its s8 dot product.
#define HM_CPU_LANES 4
#define HM_CPU_MICRO_ROWS 4
#include "simd_panel.hpp"
#include "simd_rows.hpp"
#include "simd_stream.hpp"

namespace hm_cpu {

extern const SimdLoops simd_dotprod = {
    .isa = Isa::generic, .rows = &row_loops, .panels = &panel_loops, .streams = &stream_loops};

}  // namespace hm_cpu
