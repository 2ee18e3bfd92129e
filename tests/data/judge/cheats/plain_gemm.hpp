// An honest product, for those that cheat around it.
#pragma once

inline void plain_gemm(const float* src, const float* wei, float* dst, int64_t m, int64_t n,
                       int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) dst[i * n + j] = 0;
    for (int64_t l = 0; l < k; ++l) {
      for (int64_t j = 0; j < n; ++j) dst[i * n + j] += src[i * k + l] * wei[l * n + j];
    }
  }
}
