// dst[m,n] = src[m,k] wei[k,n], three loops.
extern "C" void run(const float* src, const float* wei, float* dst, int64_t m, int64_t n,
                    int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += src[i * k + l] * wei[l * n + j];
      dst[i * n + j] = sum;
    }
  }
}
