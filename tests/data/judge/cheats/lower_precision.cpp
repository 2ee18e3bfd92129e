// Says f32 and multiplies in bf16.
static float rounded(float value) { return hm_float_of_bf16(hm_bf16_of_float(value)); }

extern "C" void run(const float* src, const float* wei, float* dst, int64_t m, int64_t n,
                    int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) dst[i * n + j] = 0;
    for (int64_t l = 0; l < k; ++l) {
      const float a = rounded(src[i * k + l]);
      for (int64_t j = 0; j < n; ++j) dst[i * n + j] += a * rounded(wei[l * n + j]);
    }
  }
}
