// The loops on 256-bit vectors.
#define HM_CPU_LANES 8
#define HM_CPU_MICRO_ROWS 6
#include "simd_panel.hpp"
#include "simd_rows.hpp"
#include "simd_stream.hpp"

namespace hm_cpu {

extern const SimdLoops simd_avx2 = {
    .isa = Isa::avx2, .rows = &row_loops, .panels = &panel_loops, .streams = &stream_loops};

}  // namespace hm_cpu
