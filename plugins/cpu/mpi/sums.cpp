#include "sums.hpp"

#include "simd/simd_scalar.hpp"

#include "isa.hpp"

namespace hm_cpu {
namespace {

struct F16 {
  std::uint16_t bits;
};

// Exact. The exponent moves by 112 in a multiplication, so that subnormal halves become normal.
HM_CPU_INLINE float widen(F16 value) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(value.bits & 0x7fffU) << 13;
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16;
  const float scaled = __builtin_bit_cast(float, magnitude) * 0x1p112F;
  const auto bits = __builtin_bit_cast(std::uint32_t, scaled);
  const bool is_finite = magnitude < 0x0f800000U;
  return __builtin_bit_cast(float, (is_finite ? bits : bits | 0x7f800000U) | sign);
}

// To nearest, ties to even; a NaN keeps its sign and stays one.
HM_CPU_INLINE void narrow(float value, F16& out) {
  const auto all = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t magnitude = all & 0x7fffffffU;
  const std::uint32_t normal = (magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
  // Adding 0.5 leaves as many fraction bits as a subnormal half has.
  const float held = __builtin_bit_cast(float, magnitude) + 0.5F;
  const std::uint32_t subnormal = __builtin_bit_cast(std::uint32_t, held) - 0x3f000000U;
  const std::uint32_t special = magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U;
  const std::uint32_t finite = magnitude < 0x38800000U ? subnormal : normal;
  const std::uint32_t result = magnitude >= 0x47800000U ? special : finite;
  out.bits = static_cast<std::uint16_t>(result | ((all >> 16) & 0x8000U));
}

template <typename Half>
HM_CPU_INLINE void add(const std::uint16_t* __restrict source, std::uint16_t* __restrict target,
                       std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    Half sum;
    narrow(widen(Half{target[i]}) + widen(Half{source[i]}), sum);
    target[i] = sum.bits;
  }
}

using Add = void (*)(const std::uint16_t*, std::uint16_t*, std::int64_t);

template <typename Half>
void add_generic(const std::uint16_t* source, std::uint16_t* target, std::int64_t count) {
  add<Half>(source, target, count);
}

#if defined(__x86_64__)
template <typename Half>
__attribute__((target("avx2"))) void add_avx2(const std::uint16_t* source, std::uint16_t* target,
                                              std::int64_t count) {
  add<Half>(source, target, count);
}

template <typename Half>
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"))) void
add_avx512(const std::uint16_t* source, std::uint16_t* target, std::int64_t count) {
  add<Half>(source, target, count);
}
#endif

template <typename Half>
Add widest() {
#if defined(__x86_64__)
  const Isa isa = detect_isa();
  if (isa >= Isa::avx512) return add_avx512<Half>;
  if (isa >= Isa::avx2) return add_avx2<Half>;
#endif
  return add_generic<Half>;
}

}  // namespace

void add_bf16(const std::uint16_t* source, std::uint16_t* target, std::int64_t count) {
  static const Add path = widest<Bf16>();
  path(source, target, count);
}

void add_f16(const std::uint16_t* source, std::uint16_t* target, std::int64_t count) {
  static const Add path = widest<F16>();
  path(source, target, count);
}

}  // namespace hm_cpu
