// Which instruction sets this CPU and its kernel really offer, asked at run time.
#pragma once

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

CpuFeatures detect_cpu_features();

// AMX state must be asked for before its first use in a process; false when the kernel refuses.
bool request_amx_permission();

}  // namespace halmark
