// Vector peaks of 64-bit Arm. Inline assembly, because a compiler may fold, hoist or spill
// intrinsics, and because these must run at full rate in a debug build too. Twenty-four
// accumulators cover a latency of four cycles on cores with up to six vector units; 31 and 30 hold
// the multiplicands, which are not zero, since data changes the power drawn.
#include <cstdint>

#include "measure/probe/peak_paths.hpp"

namespace halmark {

#if defined(__aarch64__)
namespace {

constexpr int accumulators = 24;

#define HALMARK_TWENTY_FOUR(op)                                                                  \
  op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12) op(13) op(14) \
      op(15) op(16) op(17) op(18) op(19) op(20) op(21) op(22) op(23)
#define HALMARK_ZERO(i) "movi v" #i ".2d, #0\n\t"

// A loop over accumulators, each of which `body` makes one instruction sequence for. `architecture`
// tells the assembler what it may encode; the caller has asked the processor.
#define HALMARK_PEAK_LOOP(function, architecture, a, b, body)                                      \
  __attribute__((target("arch=" architecture), noinline)) void function(std::int64_t iterations) { \
    asm volatile(a "\n\t" b "\n\t" HALMARK_TWENTY_FOUR(HALMARK_ZERO)                            \
                 "1:\n\t" HALMARK_TWENTY_FOUR(body) "subs %0, %0, #1\n\t"                       \
                 "b.ne 1b\n\t"                                                                  \
                 : "+r"(iterations)                                                             \
                 :                                                                              \
                 : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",    \
                   "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", \
                   "v23", "v24", "v30", "v31", "x9", "cc", "memory");  \
  }

#define HALMARK_FMLA_S(i) "fmla v" #i ".4s, v30.4s, v31.4s\n\t"
#define HALMARK_FMLA_D(i) "fmla v" #i ".2d, v30.2d, v31.2d\n\t"
#define HALMARK_FMLA_H(i) "fmla v" #i ".8h, v30.8h, v31.8h\n\t"
#define HALMARK_BFDOT(i) "bfdot v" #i ".4s, v30.8h, v31.8h\n\t"
#define HALMARK_SDOT(i) "sdot v" #i ".4s, v30.16b, v31.16b\n\t"
// Without sdot a dot product of bytes is two widening products and a pairwise sum.
#define HALMARK_PAIRS(i)                \
  "smull v24.8h, v30.8b, v31.8b\n\t"    \
  "smlal2 v24.8h, v30.16b, v31.16b\n\t" \
  "sadalp v" #i ".4s, v24.8h\n\t"

HALMARK_PEAK_LOOP(fma_f32, "armv8-a", "fmov v30.4s, #0.5", "fmov v31.4s, #0.5", HALMARK_FMLA_S)
HALMARK_PEAK_LOOP(fma_f64, "armv8-a", "fmov v30.2d, #0.5", "fmov v31.2d, #0.5", HALMARK_FMLA_D)
HALMARK_PEAK_LOOP(pairs_s8, "armv8-a", "movi v30.16b, #3", "movi v31.16b, #253", HALMARK_PAIRS)
HALMARK_PEAK_LOOP(fma_f16, "armv8.2-a+fp16", "fmov v30.8h, #0.5", "fmov v31.8h, #0.5",
                  HALMARK_FMLA_H)
// bf16: 1.0 and 0.5.
HALMARK_PEAK_LOOP(dot_bf16, "armv8.2-a+bf16", "mov w9, #0x3f80\n\tdup v30.8h, w9",
                  "movi v31.8h, #0x3f, lsl #8", HALMARK_BFDOT)
HALMARK_PEAK_LOOP(dot_s8, "armv8.2-a+dotprod", "movi v30.16b, #3", "movi v31.16b, #253",
                  HALMARK_SDOT)

// Multiplies and adds of one loop turn: 2 per element that enters a product.
constexpr double turn_of(int products_per_instruction) {
  return 2.0 * products_per_instruction * accumulators;
}

}  // namespace

void append_arm_vector_paths(const ArmFeatures& has, std::vector<PeakPath>& paths) {
  paths.push_back({"f32_vector", "asimd", Dtype::f32, turn_of(4), fma_f32});
  paths.push_back({"f64_vector", "asimd", Dtype::f64, turn_of(2), fma_f64});
  paths.push_back({"bf16_vector", "asimd", Dtype::bf16, turn_of(4), fma_f32});
  paths.push_back({"f16_vector", "asimd", Dtype::f16, turn_of(4), fma_f32});
  paths.push_back({"s8_vector", "asimd", Dtype::s8, turn_of(16), pairs_s8});
  if (has.bf16) paths.push_back({"bf16_vector", "asimd_bf16", Dtype::bf16, turn_of(8), dot_bf16});
  if (has.fp16) paths.push_back({"f16_vector", "asimd_fp16", Dtype::f16, turn_of(8), fma_f16});
  if (has.dotprod) paths.push_back({"s8_vector", "asimd_dotprod", Dtype::s8, turn_of(16), dot_s8});
}

#else

void append_arm_vector_paths(const ArmFeatures&, std::vector<PeakPath>&) {}

#endif

}  // namespace halmark
