// Vector peaks of x86-64. Inline assembly, because a compiler may fold, hoist or spill intrinsics,
// and because these must run at full rate in a debug build too. Twenty accumulators cover the
// latency of two units: dot products of bf16 take six cycles, and with twelve, which cover that
// only if every instruction is issued at once, an EPYC of Zen 5 showed 92 % of its rate. Where the
// encoding has 16 registers there are twelve. The multiplicands are not zero, since data changes
// the power drawn.
#include <array>
#include <bit>
#include <cstdint>

#include "core/lists.hpp"
#include "measure/probe/peak_paths.hpp"

namespace halmark {

#if defined(__x86_64__)
namespace {

#define HALMARK_TWELVE(op) op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11)
#define HALMARK_TWENTY(op) \
  HALMARK_TWELVE(op) op(16) op(17) op(18) op(19) op(20) op(21) op(22) op(23)
#define HALMARK_ZERO_YMM(i) "vxorps %%ymm" #i ", %%ymm" #i ", %%ymm" #i "\n\t"
#define HALMARK_ZERO_ZMM(i) "vpxord %%zmm" #i ", %%zmm" #i ", %%zmm" #i "\n\t"
#define HALMARK_LOW_CLOBBERS                                                               \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#define HALMARK_HIGH_CLOBBERS \
  HALMARK_LOW_CLOBBERS, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23"

// A loop over accumulators of one width, of which `each` makes one instruction sequence per one.
// `a` and `b` are in registers 14 and 15 (and 13 holds ones of 16 bits for the integer path that
// widens twice).
#define HALMARK_PEAK_LOOP(function, target_name, load, zero, width, body, each, clobbers)          \
  __attribute__((target(target_name), noinline)) void function(std::int64_t iterations) {          \
    asm volatile(load " (%1), %%" width "14\n\t" load " 64(%1), %%" width "15\n\t" load          \
                      " 128(%1), %%" width "13\n\t" each(zero)                         \
                 "1:\n\t" each(body) "dec %0\n\t"                                      \
                 "jnz 1b\n\t"                                                                    \
                 "vzeroupper\n\t"                                                                \
                 : "+r"(iterations)                                                              \
                 : "r"(constants<operand_of_##function>.values)                                  \
                 : clobbers, "cc", "memory"); \
  }

// Three vectors: a, b and ones.
template <class Element>
struct alignas(64) Constants {
  unsigned char values[192];
  constexpr Constants() : values{} {}
};

struct Bits16 {
  static constexpr unsigned a = 0x3c00, b = 0x3800;  // f16: 1.0, 0.5
};
struct BitsBf16 {
  static constexpr unsigned a = 0x3f80, b = 0x3f00;  // bf16: 1.0, 0.5
};
struct Bits8 {
  static constexpr unsigned a = 0x0301, b = 0x02ff;  // small bytes of both signs
};

// Vectors of repeated 16-bit patterns.
template <class Pattern>
constexpr Constants<Pattern> repeat_pattern() {
  Constants<Pattern> constants;
  for (int i = 0; i < 64; i += 2) {
    constants.values[i] = Pattern::a & 0xff;
    constants.values[i + 1] = Pattern::a >> 8;
    constants.values[64 + i] = Pattern::b & 0xff;
    constants.values[64 + i + 1] = Pattern::b >> 8;
    constants.values[128 + i] = 1;
  }
  return constants;
}
struct PatternF32 {};
struct PatternF64 {};
template <class Pattern>
inline constexpr Constants<Pattern> constants = repeat_pattern<Pattern>();
// 0.5f = 0x3f000000 and 0.5 = 0x3fe0...: the high byte pair decides, the rest is zero.
constexpr void set_float(unsigned char* at) {
  at[2] = 0x00;
  at[3] = 0x3f;
}
template <>
inline constexpr Constants<PatternF32> constants<PatternF32> = [] {
  Constants<PatternF32> made;
  for (int i = 0; i < 128; i += 4) set_float(made.values + i);
  return made;
}();
template <>
inline constexpr Constants<PatternF64> constants<PatternF64> = [] {
  Constants<PatternF64> made;
  for (int i = 0; i < 128; i += 8) {
    made.values[i + 6] = 0xe0;
    made.values[i + 7] = 0x3f;
  }
  return made;
}();

// What the instructions read of vector 0 (a), 1 (b) or 2 (ones).
template <class Element, class Pattern>
constexpr bool holds(const Constants<Pattern>& made, int vector, Element value) {
  for (int at = 64 * vector; at < 64 * vector + 64; at += as_int(sizeof(Element))) {
    std::array<unsigned char, sizeof(Element)> bytes{};
    for (const auto i : indices(bytes)) {
      bytes[i] = made.values[as_size(at) + i];
    }
    if (std::bit_cast<Element>(bytes) != value) return false;
  }
  return true;
}
static_assert(holds(constants<PatternF32>, 0, 0.5f) && holds(constants<PatternF32>, 1, 0.5f));
static_assert(holds(constants<PatternF64>, 0, 0.5) && holds(constants<PatternF64>, 1, 0.5));
static_assert(holds(constants<Bits16>, 0, std::uint16_t{0x3c00}) &&
              holds(constants<Bits16>, 1, std::uint16_t{0x3800}));
static_assert(holds(constants<BitsBf16>, 0, std::uint16_t{0x3f80}) &&
              holds(constants<BitsBf16>, 1, std::uint16_t{0x3f00}));
static_assert(holds(constants<Bits8>, 0, std::uint16_t{0x0301}) &&
              holds(constants<Bits8>, 1, std::uint16_t{0x02ff}) &&
              holds(constants<Bits8>, 2, std::uint16_t{1}));

using operand_of_fma_f32_avx2 = PatternF32;
using operand_of_fma_f64_avx2 = PatternF64;
using operand_of_fma_f32_avx512 = PatternF32;
using operand_of_fma_f64_avx512 = PatternF64;
using operand_of_fma_f16_avx512 = Bits16;
using operand_of_dot_bf16_avx512 = BitsBf16;
using operand_of_dot_s8_vnni512 = Bits8;
using operand_of_dot_s8_vnni256 = Bits8;
using operand_of_dot_s8_avx512 = Bits8;
using operand_of_dot_s8_avx2 = Bits8;

#define HALMARK_FMA_PS_YMM(i) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #i "\n\t"
#define HALMARK_FMA_PD_YMM(i) "vfmadd231pd %%ymm14, %%ymm15, %%ymm" #i "\n\t"
#define HALMARK_FMA_PS_ZMM(i) "vfmadd231ps %%zmm14, %%zmm15, %%zmm" #i "\n\t"
#define HALMARK_FMA_PD_ZMM(i) "vfmadd231pd %%zmm14, %%zmm15, %%zmm" #i "\n\t"
#define HALMARK_FMA_PH_ZMM(i) "vfmadd231ph %%zmm14, %%zmm15, %%zmm" #i "\n\t"
#define HALMARK_DOT_BF16_ZMM(i) "vdpbf16ps %%zmm14, %%zmm15, %%zmm" #i "\n\t"
#define HALMARK_DOT_S8_ZMM(i) "vpdpbusd %%zmm14, %%zmm15, %%zmm" #i "\n\t"
#define HALMARK_DOT_S8_YMM(i) "%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm" #i "\n\t"
// Without VNNI a dot product of bytes is multiply-add pairs, widen, add: three instructions.
#define HALMARK_MADD_ZMM(i)                  \
  "vpmaddubsw %%zmm14, %%zmm15, %%zmm12\n\t" \
  "vpmaddwd %%zmm12, %%zmm13, %%zmm12\n\t"   \
  "vpaddd %%zmm12, %%zmm" #i ", %%zmm" #i "\n\t"
#define HALMARK_MADD_YMM(i)                  \
  "vpmaddubsw %%ymm14, %%ymm15, %%ymm12\n\t" \
  "vpmaddwd %%ymm12, %%ymm13, %%ymm12\n\t"   \
  "vpaddd %%ymm12, %%ymm" #i ", %%ymm" #i "\n\t"

#define HALMARK_YMM_LOOP(function, target_name, body)                                \
  HALMARK_PEAK_LOOP(function, target_name, "vmovups", HALMARK_ZERO_YMM, "ymm", body, \
                    HALMARK_TWELVE, HALMARK_LOW_CLOBBERS)
#define HALMARK_ZMM_LOOP(function, target_name, body)                                \
  HALMARK_PEAK_LOOP(function, target_name, "vmovups", HALMARK_ZERO_ZMM, "zmm", body, \
                    HALMARK_TWENTY, HALMARK_HIGH_CLOBBERS)

HALMARK_YMM_LOOP(fma_f32_avx2, "avx2,fma", HALMARK_FMA_PS_YMM)
HALMARK_YMM_LOOP(fma_f64_avx2, "avx2,fma", HALMARK_FMA_PD_YMM)
HALMARK_YMM_LOOP(dot_s8_avx2, "avx2", HALMARK_MADD_YMM)
HALMARK_YMM_LOOP(dot_s8_vnni256, "avx2", HALMARK_DOT_S8_YMM)
HALMARK_ZMM_LOOP(fma_f32_avx512, "avx512f", HALMARK_FMA_PS_ZMM)
HALMARK_ZMM_LOOP(fma_f64_avx512, "avx512f", HALMARK_FMA_PD_ZMM)
HALMARK_ZMM_LOOP(fma_f16_avx512, "avx512f", HALMARK_FMA_PH_ZMM)
HALMARK_ZMM_LOOP(dot_bf16_avx512, "avx512f", HALMARK_DOT_BF16_ZMM)
HALMARK_ZMM_LOOP(dot_s8_vnni512, "avx512f", HALMARK_DOT_S8_ZMM)
HALMARK_ZMM_LOOP(dot_s8_avx512, "avx512f,avx512bw", HALMARK_MADD_ZMM)

// Multiplies and adds of one loop turn: 2 per element that enters a product.
constexpr double turn_of_12(int products_per_instruction) {
  return 2.0 * products_per_instruction * 12;
}
constexpr double turn_of_20(int products_per_instruction) {
  return 2.0 * products_per_instruction * 20;
}

}  // namespace

void append_x86_vector_paths(const CpuFeatures& has, std::vector<PeakPath>& paths) {
  if (has.avx2_fma) {
    paths.push_back({"f32_vector", "avx2", Dtype::f32, turn_of_12(8), fma_f32_avx2});
    paths.push_back({"f64_vector", "avx2", Dtype::f64, turn_of_12(4), fma_f64_avx2});
    paths.push_back({"bf16_vector", "avx2", Dtype::bf16, turn_of_12(8), fma_f32_avx2});
    paths.push_back({"f16_vector", "avx2", Dtype::f16, turn_of_12(8), fma_f32_avx2});
    paths.push_back({"s8_vector", "avx2", Dtype::s8, turn_of_12(32), dot_s8_avx2});
  }
  if (has.avx_vnni) {
    paths.push_back({"s8_vector", "avx2_vnni", Dtype::s8, turn_of_12(32), dot_s8_vnni256});
  }
  if (has.avx512_core) {
    paths.push_back({"f32_vector", "avx512_core", Dtype::f32, turn_of_20(16), fma_f32_avx512});
    paths.push_back({"f64_vector", "avx512_core", Dtype::f64, turn_of_20(8), fma_f64_avx512});
    paths.push_back({"bf16_vector", "avx512_core", Dtype::bf16, turn_of_20(16), fma_f32_avx512});
    paths.push_back({"f16_vector", "avx512_core", Dtype::f16, turn_of_20(16), fma_f32_avx512});
    paths.push_back({"s8_vector", "avx512_core", Dtype::s8, turn_of_20(64), dot_s8_avx512});
  }
  if (has.avx512_vnni) {
    paths.push_back({"s8_vector", "avx512_core_vnni", Dtype::s8, turn_of_20(64), dot_s8_vnni512});
  }
  if (has.avx512_bf16) {
    paths.push_back(
        {"bf16_vector", "avx512_core_bf16", Dtype::bf16, turn_of_20(32), dot_bf16_avx512});
  }
  if (has.avx512_fp16) {
    paths.push_back({"f16_vector", "avx512_core_fp16", Dtype::f16, turn_of_20(32), fma_f16_avx512});
  }
}

#else

void append_x86_vector_paths(const CpuFeatures&, std::vector<PeakPath>&) {}

#endif

}  // namespace halmark
