#include <algorithm>
#include <cmath>

extern "C" void run(const float* src, float* dst, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* x = src + r * cols;
    float* y = dst + r * cols;
    const float most = *std::max_element(x, x + cols);
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += y[c] = std::exp(x[c] - most);
    for (int64_t c = 0; c < cols; ++c) y[c] /= sum;
  }
}
