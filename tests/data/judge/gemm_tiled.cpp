// dst[m,n] = src[m,k] wei[k,n] by blocks: 4 rows of a panel of 64 columns stay in registers.
#include <algorithm>

namespace {

constexpr int64_t rows = 4, columns = 64, depth = 256;

void block(const float* src, const float* wei, float* dst, int64_t n, int64_t k, int64_t kb) {
  float sum[rows][columns];
  for (int64_t i = 0; i < rows; ++i) std::copy_n(dst + i * n, columns, sum[i]);
  for (int64_t l = 0; l < kb; ++l) {
    for (int64_t i = 0; i < rows; ++i) {
      const float a = src[i * k + l];
      for (int64_t j = 0; j < columns; ++j) sum[i][j] += a * wei[l * n + j];
    }
  }
  for (int64_t i = 0; i < rows; ++i) std::copy_n(sum[i], columns, dst + i * n);
}

void edge(const float* src, const float* wei, float* dst, int64_t m, int64_t n, int64_t n_all,
          int64_t k, int64_t kb) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t l = 0; l < kb; ++l) {
      for (int64_t j = 0; j < n; ++j) dst[i * n_all + j] += src[i * k + l] * wei[l * n_all + j];
    }
  }
}

}  // namespace

extern "C" void run(const float* src, const float* wei, float* dst, int64_t m, int64_t n,
                    int64_t k) {
  std::fill_n(dst, m * n, 0.0f);
#pragma omp parallel for schedule(dynamic)
  for (int64_t j = 0; j < n; j += columns) {
    const int64_t width = std::min(columns, n - j);
    for (int64_t l = 0; l < k; l += depth) {
      const int64_t kb = std::min(depth, k - l);
      for (int64_t i = 0; i < m; i += rows) {
        const float* a = src + i * k + l;
        const float* b = wei + l * n + j;
        float* c = dst + i * n + j;
        if (width == columns && m - i >= rows) {
          block(a, b, c, n, k, kb);
        } else {
          edge(a, b, c, std::min(rows, m - i), width, n, k, kb);
        }
      }
    }
  }
}
