#include "simd.hpp"

namespace hm_cpu {

const SimdLoops& simd_loops(Isa best) {
#if defined(__x86_64__)
  if (best >= Isa::avx512_vnni) return simd_vnni;
  if (best >= Isa::avx512) return simd_avx512;
  if (best >= Isa::avx2) return simd_avx2;
#endif
  static_cast<void>(best);
  return simd_generic;
}

}  // namespace hm_cpu
