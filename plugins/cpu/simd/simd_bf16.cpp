// The loops on 512-bit vectors with the dot products of s8 and of bf16.
#define HM_CPU_LANES 16
#define HM_CPU_MICRO_ROWS 12
#include "simd_panel.hpp"
#include "simd_rows.hpp"
#include "simd_stream.hpp"

namespace hm_cpu {

extern const SimdLoops simd_bf16 = {
    .isa = Isa::avx512_bf16, .rows = &row_loops, .panels = &panel_loops, .streams = &stream_loops};

}  // namespace hm_cpu
