// Scalars of the vector loops: conversions, exp, rounding, all without branches so that loops over
// them vectorise. Included once by each simd_<isa>.cpp, which is compiled for its instruction set:
// everything has internal linkage and uses no standard library code, or a function shared with
// other files could end up with instructions that the machine lacks.
#pragma once

#include <cstdint>

namespace hm_cpu {
namespace {

#define HM_CPU_INLINE static inline __attribute__((always_inline))

struct Bf16 {
  std::uint16_t bits;
};

HM_CPU_INLINE float widen(float value) { return value; }
HM_CPU_INLINE float widen(Bf16 value) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(value.bits) << 16);
}

// Round to nearest even; a NaN keeps its sign and stays one.
HM_CPU_INLINE void narrow(float value, float& out) { out = value; }
HM_CPU_INLINE void narrow(float value, Bf16& out) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40U;
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  out.bits = static_cast<std::uint16_t>(is_nan ? quiet : rounded);
}

// Adding 1.5 * 2^23 leaves no room for a fraction: ties to even, for |x| < 2^22.
constexpr float round_magic = 12582912.0F;
HM_CPU_INLINE float round_even(float x) { return (x + round_magic) - round_magic; }

HM_CPU_INLINE float smaller(float a, float b) { return a < b ? a : b; }
HM_CPU_INLINE float larger(float a, float b) { return a > b ? a : b; }
HM_CPU_INLINE float magnitude(float x) {
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, x) & 0x7fffffffU);
}

// exp of x in [-87.3, 88], relative error below 3e-7. x = n ln 2 + r, ln 2 in two parts; degree 6
// polynomial of Cephes expf for |r| <= ln(2) / 2.
HM_CPU_INLINE float exponential_in_range(float x) {
  const float shifted = x * 1.44269504088896341F + round_magic;
  const float n = shifted - round_magic;
  const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const auto scale = __builtin_bit_cast(std::uint32_t, shifted) << 23;
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, p) + scale);
}

// exp of x <= 0, held at exp(-87.3).
HM_CPU_INLINE float exponential(float x) { return exponential_in_range(larger(x, -87.3F)); }

// x * sigmoid(t) for a t of x's sign, from exp(-|t|) so that neither end overflows. The limit is
// taken on the bits: a float comparison here makes the compiler compute the limit's own quotient
// for every lane, whose denormal results cost 100 cycles each.
HM_CPU_INLINE float times_sigmoid(float x, float t) {
  constexpr std::uint32_t limit = 0x42ae0000U;  // 87.0
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, t) & 0x7fffffffU;
  const std::uint32_t held = bits < limit ? bits : limit;
  const float e = exponential_in_range(-__builtin_bit_cast(float, held));
  return x * (t >= 0.0F ? 1.0F : e) / (1.0F + e);
}

HM_CPU_INLINE float silu(float x) { return times_sigmoid(x, x); }

// 0.5 x (1 + tanh(u)) = x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3): no cancellation.
HM_CPU_INLINE float gelu_tanh(float x) {
  return times_sigmoid(x, 1.5957691216057308F * (x + 0.044715F * x * x * x));
}

}  // namespace
}  // namespace hm_cpu
