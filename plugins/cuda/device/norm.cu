// rmsnorm, layernorm, softmax and quantize: a row is reduced, then written.
#include "instances.hpp"
#include "reduce.cuh"
#include "rowwise.hpp"

namespace hm_cuda {
namespace {

constexpr int kept_vectors = 4;

// The vectors of a row that one thread reads. The first few stay in registers as they were stored,
// the others are read again from the cache in every pass.
template <class Src, int N>
struct Row {
  static constexpr int bytes = N * static_cast<int>(sizeof(Src)), unit = bytes < 16 ? bytes : 16;
  using Unit = typename RawBytes<unit>::type;
  static constexpr int units = bytes / unit;

  Unit kept[kept_vectors][units];
  const Src* src;
  std::int32_t vectors;

  GPU_DEVICE Row(const Src* row, std::int64_t cols, bool is_live)
      : src(row), vectors(is_live ? static_cast<std::int32_t>(cols / N) : 0) {
#pragma unroll
    for (int k = 0; k < kept_vectors; ++k) {
      const std::int32_t i = place(k);
      if (i >= vectors) continue;
#pragma unroll
      for (int u = 0; u < units; ++u) {
        kept[k][u] = load_once(reinterpret_cast<const Unit*>(src) + i * std::int64_t{units} + u);
      }
    }
  }

  static GPU_DEVICE std::int32_t place(int k) {
    return static_cast<std::int32_t>(threadIdx.x + static_cast<unsigned>(k) * blockDim.x);
  }

  // use(first column, values)
  template <class Use>
  GPU_DEVICE void each(Use use) const {
#pragma unroll
    for (int k = 0; k < kept_vectors; ++k) {
      const std::int32_t i = place(k);
      if (i >= vectors) continue;
      Src raw[N];
      memcpy(raw, kept[k], sizeof raw);
      float values[N];
#pragma unroll
      for (int j = 0; j < N; ++j) values[j] = to_float(raw[j]);
      use(std::int64_t{i} * N, values);
    }
    for (std::int64_t i = place(kept_vectors); i < vectors; i += blockDim.x) {
      float values[N];
      load<N>(src + i * N, values);
      use(i * N, values);
    }
  }
};

// Calls use(row index, is live) for the rows of this thread; all threads of a block as often.
template <class Use>
GPU_DEVICE void each_row(std::int64_t rows, Use use) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.y;
  for (std::int64_t base = static_cast<std::int64_t>(blockIdx.x) * blockDim.y; base < rows;
       base += stride) {
    const std::int64_t row = base + threadIdx.y;
    use(row < rows ? row : rows - 1, row < rows);
  }
}

template <class Src, class Dst, int N>
__global__ void __launch_bounds__(row_threads_max) rmsnorm(RowTask task) {
  __shared__ float shared[warp_threads];
  each_row(task.rows, [&](std::int64_t index, bool is_live) {
    const Row<Src, N> row(static_cast<const Src*>(task.src) + index * task.cols, task.cols,
                          is_live);
    float squares = 0;
    row.each([&](std::int64_t, const float(&x)[N]) {
#pragma unroll
      for (int i = 0; i < N; ++i) squares += x[i] * x[i];
    });
    squares = reduce_row<Sum>(squares, shared);
    const float inverse = 1.0f / sqrtf(squares / static_cast<float>(task.cols) + task.epsilon);
    Dst* dst = static_cast<Dst*>(task.dst) + index * task.cols;
    row.each([&](std::int64_t column, const float(&x)[N]) {
      float gain[N], out[N];
      load<N>(static_cast<const float*>(task.gain) + column, gain);
#pragma unroll
      for (int i = 0; i < N; ++i) out[i] = x[i] * inverse * gain[i];
      store<N>(dst + column, out);
    });
  });
}

template <class Src, class Dst, int N>
__global__ void __launch_bounds__(row_threads_max) layernorm(RowTask task) {
  __shared__ float shared[warp_threads];
  each_row(task.rows, [&](std::int64_t index, bool is_live) {
    const Row<Src, N> row(static_cast<const Src*>(task.src) + index * task.cols, task.cols,
                          is_live);
    const float count = static_cast<float>(task.cols);
    float sum = 0, squares = 0;
    row.each([&](std::int64_t, const float(&x)[N]) {
#pragma unroll
      for (int i = 0; i < N; ++i) sum += x[i];
    });
    const float mean = reduce_row<Sum>(sum, shared) / count;
    row.each([&](std::int64_t, const float(&x)[N]) {
#pragma unroll
      for (int i = 0; i < N; ++i) squares += (x[i] - mean) * (x[i] - mean);
    });
    squares = reduce_row<Sum>(squares, shared);
    const float inverse = 1.0f / sqrtf(squares / count + task.epsilon);
    Dst* dst = static_cast<Dst*>(task.dst) + index * task.cols;
    row.each([&](std::int64_t column, const float(&x)[N]) {
      float gain[N], shift[N], out[N];
      load<N>(static_cast<const float*>(task.gain) + column, gain);
      load<N>(static_cast<const float*>(task.second) + column, shift);
#pragma unroll
      for (int i = 0; i < N; ++i) out[i] = (x[i] - mean) * inverse * gain[i] + shift[i];
      store<N>(dst + column, out);
    });
  });
}

template <class Src, class Dst, int N>
__global__ void __launch_bounds__(row_threads_max) softmax(RowTask task) {
  __shared__ float shared[warp_threads];
  each_row(task.rows, [&](std::int64_t index, bool is_live) {
    const Row<Src, N> row(static_cast<const Src*>(task.src) + index * task.cols, task.cols,
                          is_live);
    float highest = Max::identity, sum = 0;
    row.each([&](std::int64_t, const float(&x)[N]) {
#pragma unroll
      for (int i = 0; i < N; ++i) highest = fmaxf(highest, x[i]);
    });
    highest = reduce_row<Max>(highest, shared);
    row.each([&](std::int64_t, const float(&x)[N]) {
#pragma unroll
      for (int i = 0; i < N; ++i) sum += __expf(x[i] - highest);
    });
    const float inverse = 1.0f / reduce_row<Sum>(sum, shared);
    Dst* dst = static_cast<Dst*>(task.dst) + index * task.cols;
    row.each([&](std::int64_t column, const float(&x)[N]) {
      float out[N];
#pragma unroll
      for (int i = 0; i < N; ++i) out[i] = __expf(x[i] - highest) * inverse;
      store<N>(dst + column, out);
    });
  });
}

// To the nearest, ties to even. Of rows so small that 127 / largest overflows the quotient is taken
// first.
GPU_DEVICE signed char quantized(float x, float largest, float inverse) {
  const float exact = isinf(inverse) ? x / largest * 127.0f : x * inverse;
  return static_cast<signed char>(fminf(fmaxf(rintf(exact), -127.0f), 127.0f));
}

template <class Src, int N>
__global__ void __launch_bounds__(row_threads_max) quantize(RowTask task) {
  __shared__ float shared[warp_threads];
  each_row(task.rows, [&](std::int64_t index, bool is_live) {
    const Row<Src, N> row(static_cast<const Src*>(task.src) + index * task.cols, task.cols,
                          is_live);
    float largest = 0;
    row.each([&](std::int64_t, const float(&x)[N]) {
#pragma unroll
      for (int i = 0; i < N; ++i) largest = fmaxf(largest, fabsf(x[i]));
    });
    largest = reduce_row<Max>(largest, shared);
    const float inverse = largest > 0 ? 127.0f / largest : 0.0f;
    signed char* dst = static_cast<signed char*>(task.dst) + index * task.cols;
    row.each([&](std::int64_t column, const float(&x)[N]) {
      signed char out[N];
#pragma unroll
      for (int i = 0; i < N; ++i) out[i] = quantized(x[i], largest, inverse);
      store_raw<N>(dst + column, out);
    });
    if (is_live && threadIdx.x == 0) static_cast<float*>(task.scale)[index] = largest / 127.0f;
  });
}

template <class Src, class Dst>
struct RmsNormOf {
  static DeviceFunction get(bool is_vector) {
    return is_vector ? address_of_kernel(rmsnorm<Src, Dst, vector_width<Src, Dst>>)
                     : address_of_kernel(rmsnorm<Src, Dst, 1>);
  }
};
template <class Src, class Dst>
struct LayerNormOf {
  static DeviceFunction get(bool is_vector) {
    return is_vector ? address_of_kernel(layernorm<Src, Dst, vector_width<Src, Dst>>)
                     : address_of_kernel(layernorm<Src, Dst, 1>);
  }
};
template <class Src, class Dst>
struct SoftmaxOf {
  static DeviceFunction get(bool is_vector) {
    return is_vector ? address_of_kernel(softmax<Src, Dst, vector_width<Src, Dst>>)
                     : address_of_kernel(softmax<Src, Dst, 1>);
  }
};
template <class Src>
struct QuantizeOf {
  static DeviceFunction get(bool is_vector) {
    return is_vector ? address_of_kernel(quantize<Src, vector_width<Src, Src>>)
                     : address_of_kernel(quantize<Src, 1>);
  }
};

}  // namespace

DeviceFunction rmsnorm_function(std::int64_t src, std::int64_t dst, bool is_vector) {
  return for_floats<RmsNormOf>(src, dst, is_vector);
}
DeviceFunction layernorm_function(std::int64_t src, std::int64_t dst, bool is_vector) {
  return for_floats<LayerNormOf>(src, dst, is_vector);
}
DeviceFunction softmax_function(std::int64_t src, std::int64_t dst, bool is_vector) {
  return for_floats<SoftmaxOf>(src, dst, is_vector);
}
DeviceFunction quantize_function(std::int64_t src, bool is_vector) {
  return for_float<QuantizeOf>(src, is_vector);
}

}  // namespace hm_cuda
