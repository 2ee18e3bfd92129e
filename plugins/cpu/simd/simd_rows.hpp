// Row-wise and element-wise loops; see simd_scalar.hpp for what may stand here.
#pragma once

#include "simd.hpp"
#include "simd_scalar.hpp"

namespace hm_cpu {
namespace {

template <typename T>
HM_CPU_INLINE const T* row_of(const void* base, std::int64_t row, std::int64_t cols) {
  return static_cast<const T*>(base) + row * cols;
}
template <typename T>
HM_CPU_INLINE T* row_of(void* base, std::int64_t row, std::int64_t cols) {
  return static_cast<T*>(base) + row * cols;
}

template <typename Src, typename Dst>
void rmsnorm(const RowTask& task) {
  const float* __restrict gain = task.gain;
  for (std::int64_t row = 0; row < task.rows; ++row) {
    const Src* __restrict x = row_of<Src>(task.src, row, task.cols);
    Dst* __restrict y = row_of<Dst>(task.dst, row, task.cols);
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t i = 0; i < task.cols; ++i) squares += widen(x[i]) * widen(x[i]);
    const float inverse =
        1.0F / __builtin_sqrtf(squares / static_cast<float>(task.cols) + task.epsilon);
#pragma omp simd
    for (std::int64_t i = 0; i < task.cols; ++i) narrow(widen(x[i]) * inverse * gain[i], y[i]);
  }
}

// Mean first, then the variance around it: the one-pass formula cancels.
template <typename Src, typename Dst>
void layernorm(const RowTask& task) {
  const float* __restrict gain = task.gain;
  const float* __restrict shift = task.shift;
  const auto n = static_cast<float>(task.cols);
  for (std::int64_t row = 0; row < task.rows; ++row) {
    const Src* __restrict x = row_of<Src>(task.src, row, task.cols);
    Dst* __restrict y = row_of<Dst>(task.dst, row, task.cols);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < task.cols; ++i) sum += widen(x[i]);
    const float mean = sum / n;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t i = 0; i < task.cols; ++i) {
      squares += (widen(x[i]) - mean) * (widen(x[i]) - mean);
    }
    const float inverse = 1.0F / __builtin_sqrtf(squares / n + task.epsilon);
#pragma omp simd
    for (std::int64_t i = 0; i < task.cols; ++i) {
      narrow((widen(x[i]) - mean) * inverse * gain[i] + shift[i], y[i]);
    }
  }
}

// The exponentials are computed twice: keeping them would need memory of their own when dst is
// narrower than f32, and the loop is bound by it, not by arithmetic.
template <typename Src, typename Dst>
void softmax(const RowTask& task) {
  for (std::int64_t row = 0; row < task.rows; ++row) {
    const Src* __restrict x = row_of<Src>(task.src, row, task.cols);
    Dst* __restrict y = row_of<Dst>(task.dst, row, task.cols);
    float top = widen(x[0]);
#pragma omp simd reduction(max : top)
    for (std::int64_t i = 0; i < task.cols; ++i) top = larger(widen(x[i]), top);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < task.cols; ++i) sum += exponential(widen(x[i]) - top);
    const float inverse = 1.0F / sum;
#pragma omp simd
    for (std::int64_t i = 0; i < task.cols; ++i) {
      narrow(exponential(widen(x[i]) - top) * inverse, y[i]);
    }
  }
}

template <typename Src, typename Dst>
void activation(const RowTask& task) {
  const Src* __restrict x = static_cast<const Src*>(task.src);
  Dst* __restrict y = static_cast<Dst*>(task.dst);
  const std::int64_t count = task.rows * task.cols;
  if (task.kind == 0) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) narrow(larger(widen(x[i]), 0.0F), y[i]);
  } else if (task.kind == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) narrow(gelu_tanh(widen(x[i])), y[i]);
  } else if (task.kind == 2) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) narrow(silu(widen(x[i])), y[i]);
  } else {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) {
      const float positive = larger(widen(x[i]), 0.0F);
      narrow(positive * positive, y[i]);
    }
  }
}

template <typename Src, typename Dst>
void gated_activation(const RowTask& task) {
  for (std::int64_t row = 0; row < task.rows; ++row) {
    const Src* __restrict gate = row_of<Src>(task.src, row, 2 * task.cols);
    const Src* __restrict up = gate + task.cols;
    Dst* __restrict y = row_of<Dst>(task.dst, row, task.cols);
    if (task.kind == 0) {
#pragma omp simd
      for (std::int64_t i = 0; i < task.cols; ++i) {
        narrow(silu(widen(gate[i])) * widen(up[i]), y[i]);
      }
    } else {
#pragma omp simd
      for (std::int64_t i = 0; i < task.cols; ++i) {
        narrow(gelu_tanh(widen(gate[i])) * widen(up[i]), y[i]);
      }
    }
  }
}

template <typename Src, typename Dst>
void residual_add(const RowTask& task) {
  const Src* __restrict a = static_cast<const Src*>(task.src);
  const Src* __restrict b = static_cast<const Src*>(task.other);
  Dst* __restrict y = static_cast<Dst*>(task.dst);
  const std::int64_t count = task.rows * task.cols;
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) narrow(widen(a[i]) + widen(b[i]), y[i]);
}

template <typename Src, typename Dst>
void convert(const RowTask& task) {
  const Src* __restrict x = static_cast<const Src*>(task.src);
  Dst* __restrict y = static_cast<Dst*>(task.dst);
  const std::int64_t count = task.rows * task.cols;
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) narrow(widen(x[i]), y[i]);
}

// The quotient itself, not a product with the inverse: one rounding less beside a tie.
template <typename Src>
void quantize(const RowTask& task) {
  for (std::int64_t row = 0; row < task.rows; ++row) {
    const Src* __restrict x = row_of<Src>(task.src, row, task.cols);
    std::int8_t* __restrict y = row_of<std::int8_t>(task.dst, row, task.cols);
    float top = 0;
#pragma omp simd reduction(max : top)
    for (std::int64_t i = 0; i < task.cols; ++i) top = larger(magnitude(widen(x[i])), top);
    task.scale[row] = top / 127.0F;
    const float scale = top > 0 ? task.scale[row] : 1.0F;
#pragma omp simd
    for (std::int64_t i = 0; i < task.cols; ++i) {
      const float step = smaller(larger(round_even(widen(x[i]) / scale), -127.0F), 127.0F);
      y[i] = static_cast<std::int8_t>(static_cast<std::int32_t>(step));
    }
  }
}

template <typename Dst>
void dequantize(const RowTask& task) {
  const float* row_scale = static_cast<const float*>(task.other);
  const float* __restrict column_scale = task.gain;
  for (std::int64_t row = 0; row < task.rows; ++row) {
    const std::int32_t* __restrict x = row_of<std::int32_t>(task.src, row, task.cols);
    Dst* __restrict y = row_of<Dst>(task.dst, row, task.cols);
    const float scale = row_scale[row];
#pragma omp simd
    for (std::int64_t i = 0; i < task.cols; ++i) {
      narrow(static_cast<float>(x[i]) * scale * column_scale[i], y[i]);
    }
  }
}

template <typename Src, typename Dst>
void rope(const RopeTask& task) {
  const std::int64_t half = task.rotary_dim / 2;
  const float* __restrict cosine = task.cos;
  const float* __restrict sine = task.sin;
  for (std::int64_t head = 0; head < task.heads; ++head) {
    const Src* __restrict x = row_of<Src>(task.src, head, task.head_dim);
    Dst* __restrict y = row_of<Dst>(task.dst, head, task.head_dim);
#pragma omp simd
    for (std::int64_t i = 0; i < half; ++i) {
      const float a = widen(x[i]), b = widen(x[i + half]);
      narrow(a * cosine[i] - b * sine[i], y[i]);
      narrow(b * cosine[i] + a * sine[i], y[i + half]);
    }
    for (std::int64_t i = task.rotary_dim; i < task.head_dim; ++i) narrow(widen(x[i]), y[i]);
  }
}

// In strips whose sums stay in L1 while the slots' rows pass.
template <typename T>
void combine(const CombineTask& task) {
  constexpr std::int64_t strip = 512;
  alignas(64) float sums[strip];
  for (std::int64_t begin = 0; begin < task.cols; begin += strip) {
    const std::int64_t count = task.cols - begin < strip ? task.cols - begin : strip;
    for (std::int64_t i = 0; i < count; ++i) sums[i] = 0;
    for (std::int64_t slot = 0; slot < task.slots; ++slot) {
      if (task.rows[slot] < 0) continue;
      const T* __restrict x = row_of<T>(task.src, task.rows[slot], task.cols) + begin;
      const float weight = task.weights[slot];
#pragma omp simd
      for (std::int64_t i = 0; i < count; ++i) sums[i] += weight * widen(x[i]);
    }
    T* __restrict y = static_cast<T*>(task.dst) + begin;
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) narrow(sums[i], y[i]);
  }
}

#define HM_CPU_BY_DTYPE(loop)                                                        \
  {                                                                                  \
    {loop<float, float>, loop<float, Bf16>}, { loop<Bf16, float>, loop<Bf16, Bf16> } \
  }

constexpr RowLoops row_loops = {
    .rmsnorm = HM_CPU_BY_DTYPE(rmsnorm),
    .layernorm = HM_CPU_BY_DTYPE(layernorm),
    .softmax = HM_CPU_BY_DTYPE(softmax),
    .activation = HM_CPU_BY_DTYPE(activation),
    .gated_activation = HM_CPU_BY_DTYPE(gated_activation),
    .residual_add = HM_CPU_BY_DTYPE(residual_add),
    .convert = HM_CPU_BY_DTYPE(convert),
    .quantize = {quantize<float>, quantize<Bf16>},
    .dequantize = {dequantize<float>, dequantize<Bf16>},
    .rope = HM_CPU_BY_DTYPE(rope),
    .combine = {combine<float>, combine<Bf16>},
};

}  // namespace
}  // namespace hm_cpu
