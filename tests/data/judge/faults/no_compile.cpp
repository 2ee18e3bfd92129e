extern "C" void run(const float* src, const float* wei, float* dst, int64_t m, int64_t n,
                    int64_t k) {
  dst[0] = src[0] * wei[0] + undeclared;
}
