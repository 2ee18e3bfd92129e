// Ops without a sum over a row: activations, residual_add, dequantize, embedding and rope.
#include "instances.hpp"
#include "rowwise.hpp"

namespace hm_cuda {
namespace {

// x / (1 + e^-x). Where e^-x is infinite the quotient is 0, as its limit.
GPU_DEVICE float silu(float x) { return __fdividef(x, 1.0f + __expf(-x)); }

// tanh(y) = 1 - 2 / (1 + e^2y), which neither end overflows.
GPU_DEVICE float gelu_tanh(float x) {
  const float inner = 0.7978845608028654f * (x + 0.044715f * x * x * x);
  const float tangent = 1.0f - 2.0f / (1.0f + __expf(2.0f * inner));
  return 0.5f * x * (1.0f + tangent);
}

enum ActivationKind { kind_relu, kind_gelu_tanh, kind_silu, kind_relu_squared };

GPU_DEVICE float activated(float x, std::int32_t kind) {
  const float positive = fmaxf(x, 0.0f);
  switch (kind) {
    case kind_relu:
      return positive;
    case kind_gelu_tanh:
      return gelu_tanh(x);
    case kind_silu:
      return silu(x);
    default:
      return positive * positive;
  }
}

GPU_DEVICE std::int64_t first_of_grid() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
GPU_DEVICE std::int64_t grid_threads() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

template <class Src, class Dst>
__global__ void __launch_bounds__(row_threads_max) activation(RowTask task) {
  constexpr int n = vector_width<Src, Dst>;
  const Src* src = static_cast<const Src*>(task.src);
  Dst* dst = static_cast<Dst*>(task.dst);
  const std::int64_t total = task.rows * task.cols, vectors = total / n, first = first_of_grid();
  for (std::int64_t i = first; i < vectors; i += grid_threads()) {
    float x[n];
    load<n>(src + i * n, x);
#pragma unroll
    for (int j = 0; j < n; ++j) x[j] = activated(x[j], task.kind);
    store<n>(dst + i * n, x);
  }
  const std::int64_t rest = vectors * n + first;
  if (rest < total) dst[rest] = from_float<Dst>(activated(to_float(src[rest]), task.kind));
}

template <class Src, class Dst>
__global__ void __launch_bounds__(row_threads_max) residual_add(RowTask task) {
  constexpr int n = vector_width<Src, Dst>;
  const Src* a = static_cast<const Src*>(task.src);
  const Src* b = static_cast<const Src*>(task.second);
  Dst* dst = static_cast<Dst*>(task.dst);
  const std::int64_t total = task.rows * task.cols, vectors = total / n, first = first_of_grid();
  for (std::int64_t i = first; i < vectors; i += grid_threads()) {
    float x[n], y[n];
    load<n>(a + i * n, x);
    load<n>(b + i * n, y);
#pragma unroll
    for (int j = 0; j < n; ++j) x[j] += y[j];
    store<n>(dst + i * n, x);
  }
  const std::int64_t rest = vectors * n + first;
  if (rest < total) dst[rest] = from_float<Dst>(to_float(a[rest]) + to_float(b[rest]));
}

// Calls use(row, first column) for the vectors of this thread.
template <int N, class Use>
GPU_DEVICE void each_vector(std::int64_t rows, std::int64_t cols, Use use) {
  const std::int64_t vectors = cols / N;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.y) * blockDim.x;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
         i < vectors; i += stride) {
      use(row, i * N);
    }
  }
}

template <class Src, class Dst, int N>
__global__ void __launch_bounds__(row_threads_max) gated_activation(RowTask task) {
  const Src* src = static_cast<const Src*>(task.src);
  Dst* dst = static_cast<Dst*>(task.dst);
  each_vector<N>(task.rows, task.cols, [&](std::int64_t row, std::int64_t column) {
    float gate[N], up[N];
    load<N>(src + row * 2 * task.cols + column, gate);
    load<N>(src + row * 2 * task.cols + task.cols + column, up);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      gate[i] = (task.kind == 0 ? silu(gate[i]) : gelu_tanh(gate[i])) * up[i];
    }
    store<N>(dst + row * task.cols + column, gate);
  });
}

template <class Dst, int N>
__global__ void __launch_bounds__(row_threads_max) dequantize(RowTask task) {
  const std::int32_t* src = static_cast<const std::int32_t*>(task.src);
  Dst* dst = static_cast<Dst*>(task.dst);
  each_vector<N>(task.rows, task.cols, [&](std::int64_t row, std::int64_t column) {
    const float row_scale = static_cast<const float*>(task.second)[row];
    std::int32_t sums[N];
    float out[N];
    load_raw<N>(src + row * task.cols + column, sums);
    load<N>(static_cast<const float*>(task.gain) + column, out);
#pragma unroll
    for (int i = 0; i < N; ++i) out[i] *= static_cast<float>(sums[i]) * row_scale;
    store<N>(dst + row * task.cols + column, out);
  });
}

template <class Src, class Dst, int N>
__global__ void __launch_bounds__(row_threads_max) embedding(EmbeddingTask task) {
  const Src* table = static_cast<const Src*>(task.table);
  Dst* dst = static_cast<Dst*>(task.dst);
  each_vector<N>(task.rows, task.cols, [&](std::int64_t row, std::int64_t column) {
    std::int64_t id = task.ids[row];
    id = id < 0 ? 0 : id < task.vocab ? id : task.vocab - 1;
    float values[N];
    load<N>(table + id * task.cols + column, values);
    store<N>(dst + row * task.cols + column, values);
  });
}

// A work item is a vector of pairs, or a vector of what is copied behind them.
template <class Src, class Dst, int N>
__global__ void __launch_bounds__(row_threads_max) rope(RopeTask task) {
  const std::int32_t pairs = task.half / N, items = (task.head_dim - task.half) / N;
  const std::int64_t width = static_cast<std::int64_t>(task.heads) * task.head_dim;
  const std::int64_t row_items = static_cast<std::int64_t>(task.heads) * items * N;
  each_vector<N>(task.rows, row_items, [&](std::int64_t row, std::int64_t flat) {
    const std::int64_t head = flat / N / items;
    const std::int32_t item = static_cast<std::int32_t>(flat / N - head * items);
    const std::int64_t begin = row * width + head * task.head_dim;
    const Src* src = static_cast<const Src*>(task.src) + begin;
    Dst* dst = static_cast<Dst*>(task.dst) + begin;
    if (item >= pairs) {
      const std::int32_t at = task.half + item * N;
      float values[N];
      load<N>(src + at, values);
      store<N>(dst + at, values);
      return;
    }
    float x[N], y[N], cosine[N], sine[N], first[N], second[N];
    load<N>(src + item * N, x);
    load<N>(src + task.half + item * N, y);
    load<N>(task.cosine + row * task.half + item * N, cosine);
    load<N>(task.sine + row * task.half + item * N, sine);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      first[i] = x[i] * cosine[i] - y[i] * sine[i];
      second[i] = y[i] * cosine[i] + x[i] * sine[i];
    }
    store<N>(dst + item * N, first);
    store<N>(dst + task.half + item * N, second);
  });
}

template <class Src, class Dst>
struct ActivationOf {
  static DeviceFunction get() { return address_of_kernel(activation<Src, Dst>); }
};
template <class Src, class Dst>
struct ResidualAddOf {
  static DeviceFunction get() { return address_of_kernel(residual_add<Src, Dst>); }
};
template <class Src, class Dst>
struct GatedActivationOf {
  static DeviceFunction get(bool is_vector) {
    return is_vector ? address_of_kernel(gated_activation<Src, Dst, vector_width<Src, Dst>>)
                     : address_of_kernel(gated_activation<Src, Dst, 1>);
  }
};
template <class Src, class Dst>
struct EmbeddingOf {
  static DeviceFunction get(bool is_vector) {
    return is_vector ? address_of_kernel(embedding<Src, Dst, vector_width<Src, Dst>>)
                     : address_of_kernel(embedding<Src, Dst, 1>);
  }
};
template <class Src, class Dst>
struct RopeOf {
  static DeviceFunction get(bool is_vector) {
    return is_vector ? address_of_kernel(rope<Src, Dst, vector_width<Src, Dst>>)
                     : address_of_kernel(rope<Src, Dst, 1>);
  }
};
template <class Dst>
struct DequantizeOf {
  static DeviceFunction get(bool is_vector) {
    return is_vector ? address_of_kernel(dequantize<Dst, vector_width<float, Dst>>)
                     : address_of_kernel(dequantize<Dst, 1>);
  }
};

}  // namespace

DeviceFunction activation_function(std::int64_t src, std::int64_t dst) {
  return for_floats<ActivationOf>(src, dst);
}
DeviceFunction residual_add_function(std::int64_t src, std::int64_t dst) {
  return for_floats<ResidualAddOf>(src, dst);
}
DeviceFunction gated_activation_function(std::int64_t src, std::int64_t dst, bool is_vector) {
  return for_floats<GatedActivationOf>(src, dst, is_vector);
}
DeviceFunction dequantize_function(std::int64_t dst, bool is_vector) {
  return for_float<DequantizeOf>(dst, is_vector);
}
DeviceFunction embedding_function(std::int64_t src, std::int64_t dst, bool is_vector) {
  return for_floats<EmbeddingOf>(src, dst, is_vector);
}
DeviceFunction rope_function(std::int64_t src, std::int64_t dst, bool is_vector) {
  return for_floats<RopeOf>(src, dst, is_vector);
}

}  // namespace hm_cuda
