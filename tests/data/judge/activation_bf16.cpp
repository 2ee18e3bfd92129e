// kind 2: silu, x / (1 + exp(-x)).
#include <cmath>

static_assert(HM_KIND == 2, "written for silu: --params kind=2");

extern "C" void run(const hm_bf16* src, hm_bf16* dst, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i) {
    const float x = hm_float_of_bf16(src[i]);
    dst[i] = hm_bf16_of_float(x / (1.0f + std::exp(-x)));
  }
}
