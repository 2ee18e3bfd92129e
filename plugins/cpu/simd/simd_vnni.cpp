// The loops on 512-bit vectors with the s8 dot product.
#define HM_CPU_LANES 16
#define HM_CPU_MICRO_ROWS 12
#include "simd_panel.hpp"
#include "simd_rows.hpp"
#include "simd_stream.hpp"

namespace hm_cpu {

extern const SimdLoops simd_vnni = {
    .isa = Isa::avx512_vnni, .rows = &row_loops, .panels = &panel_loops, .streams = &stream_loops};

}  // namespace hm_cpu
