// The loops on 512-bit vectors.
#define HM_CPU_LANES 16
#define HM_CPU_MICRO_ROWS 12
#include "simd_panel.hpp"
#include "simd_rows.hpp"
#include "simd_stream.hpp"

namespace hm_cpu {

extern const SimdLoops simd_avx512 = {
    .isa = Isa::avx512, .rows = &row_loops, .panels = &panel_loops, .streams = &stream_loops};

}  // namespace hm_cpu
