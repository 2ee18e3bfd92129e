// Which instruction sets this CPU and its kernel really offer, asked at run time.
#pragma once

#include <cstdint>

namespace halmark {

struct CpuFeatures {
  bool avx2_fma = false;
  bool avx512_core = false;  // F, BW, DQ, VL: what the isa key avx512_core means
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool avx_vnni = false;  // the 256-bit form of client cores
  bool amx_bf16 = false;
  bool amx_int8 = false;
};

// The words of CPUID, and the state components that the kernel saves (XCR0).
struct CpuWords {
  std::uint64_t saved_state = 0;
  std::uint32_t one_c = 0;                              // leaf 1
  std::uint32_t seven_b = 0, seven_c = 0, seven_d = 0;  // leaf 7, subleaf 0
  std::uint32_t seven_one_a = 0;                        // leaf 7, subleaf 1; 0 where there is none
};
CpuFeatures features_of(const CpuWords& words);

// Of this CPU; none on other architectures than x86-64.
CpuFeatures detect_cpu_features();

// What 64-bit Arm may have beside its base, which always has ASIMD (128-bit vectors).
struct ArmFeatures {
  bool dotprod = false;  // sdot: four bytes a lane
  bool fp16 = false;     // arithmetic in halves, not only conversion
  bool bf16 = false;     // bfdot
};

// Of the words AT_HWCAP and AT_HWCAP2 that Linux passes to a program.
ArmFeatures arm_features_of(std::uint64_t hwcap, std::uint64_t hwcap2);

// Of this CPU; none on other architectures.
ArmFeatures detect_arm_features();

// AMX state must be asked for before its first use in a process; false when the kernel refuses.
bool request_amx_permission();

}  // namespace halmark
