/* dst = src / sqrt(mean(src^2) + epsilon) * gain, per row. */
#include <math.h>

void run(const float* src, const float* gain, float* dst, int64_t rows, int64_t cols,
         int64_t epsilon_e12) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* x = src + r * cols;
    float squares = 0;
    for (int64_t c = 0; c < cols; ++c) squares += x[c] * x[c];
    const float inverse = 1.0f / sqrtf(squares / (float)cols + (float)epsilon_e12 * 1e-12f);
    for (int64_t c = 0; c < cols; ++c) dst[r * cols + c] = x[c] * inverse * gain[c];
  }
}
