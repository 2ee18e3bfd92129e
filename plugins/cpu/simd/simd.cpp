#include "simd.hpp"

#include "isa.hpp"

namespace hm_cpu {

const SimdLoops& simd_loops(Isa best) {
#if defined(__x86_64__)
  if (best >= Isa::avx512_bf16) return simd_bf16;
  if (best >= Isa::avx512_vnni) return simd_vnni;
  if (best >= Isa::avx512) return simd_avx512;
  if (best >= Isa::avx2) return simd_avx2;
#elif defined(__aarch64__)
  if (has_asimd_dotprod()) return simd_dotprod;
#endif
  static_cast<void>(best);
  return simd_generic;
}

}  // namespace hm_cpu
