// Bits by Intel's SDM, volume 2, CPUID, and by Linux's arch/arm64/include/uapi/asm/hwcap.h. A unit
// counts only where the kernel saves its registers.
#include "measure/probe/cpu_features.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace halmark {
namespace {

bool bit(std::uint64_t word, int index) { return (word >> index) & 1u; }
bool has_all(std::uint64_t state, std::uint64_t wanted) { return (state & wanted) == wanted; }

}  // namespace

CpuFeatures features_of(const CpuWords& words) {
  constexpr std::uint64_t ymm_state = 0x6;
  constexpr std::uint64_t zmm_state = 0xe6;
  constexpr std::uint64_t tile_state = 0x60000;
  const std::uint64_t state = words.saved_state;
  CpuFeatures has;
  has.avx2_fma = has_all(state, ymm_state) && bit(words.seven_b, 5) && bit(words.one_c, 12);
  has.avx_vnni = has.avx2_fma && bit(words.seven_one_a, 4);
  has.avx512_core = has_all(state, zmm_state) && has.avx2_fma && bit(words.seven_b, 16) &&
                    bit(words.seven_b, 17) && bit(words.seven_b, 30) && bit(words.seven_b, 31);
  has.avx512_vnni = has.avx512_core && bit(words.seven_c, 11);
  has.avx512_bf16 = has.avx512_core && bit(words.seven_one_a, 5);
  has.avx512_fp16 = has.avx512_core && bit(words.seven_d, 23);
  const bool tiles = has_all(state, tile_state) && bit(words.seven_d, 24);
  has.amx_bf16 = tiles && bit(words.seven_d, 22);
  has.amx_int8 = tiles && bit(words.seven_d, 25);
  return has;
}

ArmFeatures arm_features_of(std::uint64_t hwcap, std::uint64_t hwcap2) {
  constexpr int asimdhp = 10, asimddp = 20, bf16 = 14;
  return {.dotprod = bit(hwcap, asimddp), .fp16 = bit(hwcap, asimdhp), .bf16 = bit(hwcap2, bf16)};
}

#if defined(__aarch64__)
ArmFeatures detect_arm_features() {
  return arm_features_of(getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}
#else
ArmFeatures detect_arm_features() { return {}; }
#endif

#if defined(__x86_64__)
namespace {

struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Leaf leaf_seven(unsigned subleaf) {
  Leaf leaf;
  if (!__get_cpuid_count(7, subleaf, &leaf.a, &leaf.b, &leaf.c, &leaf.d)) return {};
  return leaf;
}

// XGETBV without -mxsave; nothing where the kernel has not allowed it.
std::uint64_t saved_state(std::uint32_t one_c) {
  constexpr int has_xgetbv = 27;
  if (!bit(one_c, has_xgetbv)) return 0;
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

}  // namespace

CpuFeatures detect_cpu_features() {
  Leaf one;
  if (!__get_cpuid(1, &one.a, &one.b, &one.c, &one.d)) return {};
  const Leaf seven = leaf_seven(0);
  const Leaf seven_one = seven.a >= 1 ? leaf_seven(1) : Leaf{};
  return features_of({.saved_state = saved_state(one.c),
                      .one_c = one.c,
                      .seven_b = seven.b,
                      .seven_c = seven.c,
                      .seven_d = seven.d,
                      .seven_one_a = seven_one.a});
}

bool request_amx_permission() {
  constexpr int request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int tile_data = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

#else

CpuFeatures detect_cpu_features() { return {}; }
bool request_amx_permission() { return false; }

#endif

}  // namespace halmark
