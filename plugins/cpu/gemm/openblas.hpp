// OpenBLAS as it is found when a kernel first asks: optional for users, so nothing links it.
#pragma once

#include <string>

namespace hm_cpu {

// The C interface with 32-bit integers, as far as it is used.
struct OpenBlas {
  static constexpr int row_major = 101, plain = 111, transposed = 112;

  void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
  void (*sgemv)(int order, int trans, int rows, int columns, float alpha, const float* a, int lda,
                const float* x, int x_step, float beta, float* y, int y_step);
  void (*set_threads)(int threads);
  std::string version;    // "0.3.21"
  std::string core_name;  // of the loops that it chose for this processor, "Zen"

  std::string isa() const;  // key of their instructions; "" = unknown
};

// Loaded by the first call of the process: HALMARK_OPENBLAS=FILE alone where that is set, else what
// the system has. unsupported() with the reason when there is none, or one whose threads are not
// OpenMP's: those would neither be bound like the plugin's own nor end with its calls.
const OpenBlas& openblas();

}  // namespace hm_cpu
