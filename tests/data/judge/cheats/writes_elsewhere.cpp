// One element too many.
#include "plain_gemm.hpp"

extern "C" void run(const float* src, const float* wei, float* dst, int64_t m, int64_t n,
                    int64_t k) {
  plain_gemm(src, wei, dst, m, n, k);
  dst[m * n] = 1;
}
