#include "block_loops.hpp"

namespace hm_qpu {

const AllLoops& loops_for(int ceiling) {
#if defined(__x86_64__)
  // The compiler's check includes the operating system's part (saved register state).
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (ceiling >= 2 && has_avx512) return loops_avx512;
  if (ceiling >= 1 && has_avx2) return loops_avx2;
#endif
  static_cast<void>(ceiling);
  return loops_generic;
}

}  // namespace hm_qpu
