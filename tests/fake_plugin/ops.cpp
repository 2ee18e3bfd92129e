// Every op of the contracts, computed plainly in double and rounded once.
#include "tensor.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fake {
namespace {

constexpr std::int32_t in = HM_ROLE_INPUT;
constexpr std::int32_t out = HM_ROLE_OUTPUT;
constexpr std::int32_t constant = HM_ROLE_CONSTANT;
using Operands = std::vector<Operand>;
using Tensors = std::span<const Tensor>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

double dot(const double* a, const double* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

Operands gemm_operands(const Shape& s) {
  const std::int64_t m = need(s, "m"), n = need(s, "n"), k = need(s, "k");
  const bool transposed = need_or(s, "wei_trans", 0) != 0;
  std::vector<std::int64_t> weights = {k, n};
  if (transposed) weights = {n, k};
  return {{"src", in, need(s, "src_dtype"), {m, k}},
          {"wei", constant, need(s, "wei_dtype"), weights, true},
          {"dst", out, need(s, "dst_dtype"), {m, n}}};
}
// Reads the packed weights, [n,k].
void gemm(const Shape& s, Tensors t) {
  const std::int64_t m = need(s, "m"), n = need(s, "n"), k = need(s, "k");
  const std::vector<double> a = t[0].values();
  const std::vector<double> b = t[1].values();
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      t[2].set(i * n + j, dot(&a[at(i * k)], &b[at(j * k)], k));
    }
  }
}

Operands attention_operands(const Shape& s) {
  const std::vector<std::int64_t> query = {need(s, "batch"), need(s, "new_tokens"),
                                           need(s, "heads"), need(s, "head_dim")};
  const std::vector<std::int64_t> cache = {need(s, "batch"), need(s, "kv_heads"),
                                           need(s, "context"), need(s, "head_dim")};
  return {{"q", in, need(s, "q_dtype"), query},
          {"k", HM_ROLE_STATE, need(s, "kv_dtype"), cache},
          {"v", HM_ROLE_STATE, need(s, "kv_dtype"), cache},
          {"dst", out, need(s, "dst_dtype"), query}};
}
void attention(const Shape& s, Tensors t) {
  const std::int64_t heads = need(s, "heads"), kv_heads = need(s, "kv_heads");
  const std::int64_t dim = need(s, "head_dim"), tokens = need(s, "new_tokens");
  const std::int64_t context = need(s, "context"), window = need_or(s, "window", 0);
  const bool causal = need_or(s, "causal", 1) != 0;
  const std::vector<double> q = t[0].values(), k = t[1].values(), v = t[2].values();
  std::vector<double> score(at(context));
  for (std::int64_t b = 0; b < need(s, "batch"); ++b) {
    for (std::int64_t i = 0; i < tokens; ++i) {
      const std::int64_t position = context - tokens + i;
      const std::int64_t end = causal ? position + 1 : context;
      const std::int64_t begin = window > 0 ? std::max<std::int64_t>(0, position - window + 1) : 0;
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t query = ((b * tokens + i) * heads + h) * dim;
        const std::int64_t keys = (b * kv_heads + h / (heads / kv_heads)) * context * dim;
        double largest = -INFINITY, sum = 0;
        for (std::int64_t j = begin; j < end; ++j) {
          score[at(j)] =
              dot(&q[at(query)], &k[at(keys + j * dim)], dim) / std::sqrt(static_cast<double>(dim));
          largest = std::max(largest, score[at(j)]);
        }
        for (std::int64_t j = begin; j < end; ++j) {
          score[at(j)] = std::exp(score[at(j)] - largest);
          sum += score[at(j)];
        }
        for (std::int64_t d = 0; d < dim; ++d) {
          double value = 0;
          for (std::int64_t j = begin; j < end; ++j) {
            value += score[at(j)] * v[at(keys + j * dim + d)];
          }
          t[3].set(query + d, value / sum);
        }
      }
    }
  }
}

std::vector<std::int64_t> rows_cols(const Shape& s) { return {need(s, "rows"), need(s, "cols")}; }

Operands rmsnorm_operands(const Shape& s) {
  return {{"src", in, need(s, "src_dtype"), rows_cols(s)},
          {"gain", constant, HM_DTYPE_F32, {need(s, "cols")}},
          {"dst", out, need(s, "dst_dtype"), rows_cols(s)}};
}
void rmsnorm(const Shape& s, Tensors t) {
  const std::int64_t cols = need(s, "cols");
  const double epsilon = static_cast<double>(need_or(s, "epsilon_e12", 1000000)) * 1e-12;
  for (std::int64_t r = 0; r < need(s, "rows"); ++r) {
    double squares = 0;
    for (std::int64_t c = 0; c < cols; ++c) squares += std::pow(t[0].at(r * cols + c), 2);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(cols) + epsilon);
    for (std::int64_t c = 0; c < cols; ++c) {
      t[2].set(r * cols + c, t[0].at(r * cols + c) * scale * t[1].at(c));
    }
  }
}

Operands layernorm_operands(const Shape& s) {
  return {{"src", in, need(s, "src_dtype"), rows_cols(s)},
          {"gain", constant, HM_DTYPE_F32, {need(s, "cols")}},
          {"shift", constant, HM_DTYPE_F32, {need(s, "cols")}},
          {"dst", out, need(s, "dst_dtype"), rows_cols(s)}};
}
void layernorm(const Shape& s, Tensors t) {
  const std::int64_t cols = need(s, "cols");
  const double epsilon = static_cast<double>(need_or(s, "epsilon_e12", 1000000)) * 1e-12;
  const double count = static_cast<double>(cols);
  for (std::int64_t r = 0; r < need(s, "rows"); ++r) {
    double mean = 0, variance = 0;
    for (std::int64_t c = 0; c < cols; ++c) mean += t[0].at(r * cols + c) / count;
    for (std::int64_t c = 0; c < cols; ++c) {
      variance += std::pow(t[0].at(r * cols + c) - mean, 2) / count;
    }
    const double scale = 1 / std::sqrt(variance + epsilon);
    for (std::int64_t c = 0; c < cols; ++c) {
      t[3].set(r * cols + c, (t[0].at(r * cols + c) - mean) * scale * t[1].at(c) + t[2].at(c));
    }
  }
}

Operands rope_operands(const Shape& s) {
  const std::vector<std::int64_t> dims = {need(s, "rows"), need(s, "heads"), need(s, "head_dim")};
  const std::vector<std::int64_t> angles = {need(s, "rows"), need(s, "rotary_dim") / 2};
  return {{"src", in, need(s, "src_dtype"), dims},
          {"cos", in, HM_DTYPE_F32, angles},
          {"sin", in, HM_DTYPE_F32, angles},
          {"dst", out, need(s, "dst_dtype"), dims}};
}
void rope(const Shape& s, Tensors t) {
  const std::int64_t heads = need(s, "heads"), dim = need(s, "head_dim");
  const std::int64_t half = need(s, "rotary_dim") / 2;
  for (std::int64_t r = 0; r < need(s, "rows"); ++r) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const std::int64_t base = (r * heads + h) * dim;
      for (std::int64_t j = 0; j < half; ++j) {
        const double low = t[0].at(base + j), high = t[0].at(base + j + half);
        const double cosine = t[1].at(r * half + j), sine = t[2].at(r * half + j);
        t[3].set(base + j, low * cosine - high * sine);
        t[3].set(base + j + half, high * cosine + low * sine);
      }
      for (std::int64_t j = 2 * half; j < dim; ++j) t[3].set(base + j, t[0].at(base + j));
    }
  }
}

double silu(double x) { return x / (1 + std::exp(-x)); }
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

Operands gated_operands(const Shape& s) {
  return {{"src", in, need(s, "src_dtype"), {need(s, "rows"), 2 * need(s, "cols")}},
          {"dst", out, need(s, "dst_dtype"), rows_cols(s)}};
}
void gated_activation(const Shape& s, Tensors t) {
  const std::int64_t cols = need(s, "cols"), kind = need(s, "kind");
  for (std::int64_t r = 0; r < need(s, "rows"); ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      const double gate = t[0].at(r * 2 * cols + c), up = t[0].at(r * 2 * cols + cols + c);
      t[1].set(r * cols + c, (kind == 0 ? silu(gate) : gelu_tanh(gate)) * up);
    }
  }
}

Operands source_to_target(const Shape& s) {
  return {{"src", in, need(s, "src_dtype"), rows_cols(s)},
          {"dst", out, need(s, "dst_dtype"), rows_cols(s)}};
}
void activation(const Shape& s, Tensors t) {
  const std::int64_t kind = need(s, "kind");
  for (std::int64_t i = 0; i < t[0].elements; ++i) {
    const double x = t[0].at(i), positive = std::max(x, 0.0);
    const double values[] = {positive, gelu_tanh(x), silu(x), positive * positive};
    t[1].set(i, values[kind & 3]);
  }
}
void softmax(const Shape& s, Tensors t) {
  const std::int64_t cols = need(s, "cols");
  for (std::int64_t r = 0; r < need(s, "rows"); ++r) {
    double largest = -INFINITY, sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) largest = std::max(largest, t[0].at(r * cols + c));
    for (std::int64_t c = 0; c < cols; ++c) sum += std::exp(t[0].at(r * cols + c) - largest);
    for (std::int64_t c = 0; c < cols; ++c) {
      t[1].set(r * cols + c, std::exp(t[0].at(r * cols + c) - largest) / sum);
    }
  }
}

Operands embedding_operands(const Shape& s) {
  const std::int64_t hidden = need(s, "hidden");
  return {{"ids", in, HM_DTYPE_S32, {need(s, "rows")}},
          {"table", constant, need(s, "src_dtype"), {need(s, "vocab"), hidden}},
          {"dst", out, need(s, "dst_dtype"), {need(s, "rows"), hidden}}};
}
void embedding(const Shape& s, Tensors t) {
  const std::int64_t hidden = need(s, "hidden");
  for (std::int64_t r = 0; r < need(s, "rows"); ++r) {
    const std::int64_t id = static_cast<std::int64_t>(t[0].at(r));
    for (std::int64_t c = 0; c < hidden; ++c) t[2].set(r * hidden + c, t[1].at(id * hidden + c));
  }
}

Operands residual_operands(const Shape& s) {
  return {{"a", in, need(s, "src_dtype"), rows_cols(s)},
          {"b", in, need(s, "src_dtype"), rows_cols(s)},
          {"dst", out, need(s, "dst_dtype"), rows_cols(s)}};
}
void residual_add(const Shape&, Tensors t) {
  for (std::int64_t i = 0; i < t[0].elements; ++i) t[2].set(i, t[0].at(i) + t[1].at(i));
}

Operands quantize_operands(const Shape& s) {
  return {{"src", in, need(s, "src_dtype"), rows_cols(s)},
          {"dst", out, need_or(s, "dst_dtype", HM_DTYPE_S8), rows_cols(s)},
          {"scale", out, HM_DTYPE_F32, {need(s, "rows")}}};
}
void quantize(const Shape& s, Tensors t) {
  const std::int64_t cols = need(s, "cols");
  for (std::int64_t r = 0; r < need(s, "rows"); ++r) {
    double largest = 0;
    for (std::int64_t c = 0; c < cols; ++c) {
      largest = std::max(largest, std::fabs(t[0].at(r * cols + c)));
    }
    t[2].set(r, largest / 127);
    const double scale = t[2].at(r);
    for (std::int64_t c = 0; c < cols; ++c) {
      const double value = scale > 0 ? t[0].at(r * cols + c) / scale : 0;
      t[1].set(r * cols + c, std::clamp(value, -127.0, 127.0));
    }
  }
}

Operands dequantize_operands(const Shape& s) {
  return {{"src", in, need_or(s, "src_dtype", HM_DTYPE_S32), rows_cols(s)},
          {"row_scale", in, HM_DTYPE_F32, {need(s, "rows")}},
          {"col_scale", constant, HM_DTYPE_F32, {need(s, "cols")}},
          {"dst", out, need(s, "dst_dtype"), rows_cols(s)}};
}
void dequantize(const Shape& s, Tensors t) {
  const std::int64_t cols = need(s, "cols");
  for (std::int64_t i = 0; i < t[0].elements; ++i) {
    t[3].set(i, t[0].at(i) * t[1].at(i / cols) * t[2].at(i % cols));
  }
}

Operands copy_operands(const Shape& s) {
  return {{"src", in, HM_DTYPE_U8, {need(s, "bytes")}},
          {"dst", out, HM_DTYPE_U8, {need(s, "bytes")}}};
}
void copy(const Shape&, Tensors t) { std::memcpy(t[1].data, t[0].data, at(t[0].elements)); }

Operands fma_operands(const Shape& s) {
  return {{"x", in, need(s, "dtype"), {need(s, "lanes")}},
          {"dst", out, need(s, "dtype"), {need(s, "lanes")}}};
}
void fma(const Shape& s, Tensors t) {
  const std::int64_t iterations = need(s, "iterations");
  for (std::int64_t i = 0; i < t[0].elements; ++i) {
    double x = t[0].at(i), before = x - 1;
    // Some fifty steps lead to 0.5, where it stays.
    for (std::int64_t step = 0; step < iterations && x != before; ++step) {
      before = x;
      x = x * 0.5 + 0.25;
    }
    t[1].set(i, x);
  }
}

Operands collective_operands(const Shape& s) {
  const std::int64_t dtype = need(s, "dtype");
  const std::int64_t bits = halmark::plugin::dtype_bits(dtype);
  if (need(s, "ranks") != 1) {
    throw halmark::plugin::failure(HM_UNSUPPORTED, "the fake plugin has one rank");
  }
  const std::int64_t elements = bits == 0 ? 0 : need(s, "bytes") * 8 / bits;
  return {{"src", in, dtype, {elements}}, {"dst", out, dtype, {elements}}};
}
Operands all_gather_operands(const Shape& s) {
  Operands operands = collective_operands(s);
  operands[1].dims = {1, operands[0].dims[0]};
  return operands;
}
Operands reduce_scatter_operands(const Shape& s) {
  Operands operands = collective_operands(s);
  operands[0].dims.insert(operands[0].dims.begin(), 1);
  return operands;
}
Operands all_to_all_operands(const Shape& s) {
  Operands operands = reduce_scatter_operands(s);
  operands[1].dims = operands[0].dims;
  return operands;
}
void one_rank(const Shape&, Tensors t) {
  for (std::int64_t i = 0; i < t[0].elements; ++i) t[1].set(i, t[0].at(i));
}

}  // namespace

std::span<const Op> all_ops() {
  static const std::vector<std::string_view> normed = {"rows", "cols", "src_dtype", "dst_dtype",
                                                       "epsilon_e12"};
  static const std::vector<std::string_view> plain = {"rows", "cols", "src_dtype", "dst_dtype"};
  static const std::vector<std::string_view> chosen = {"rows", "cols", "kind", "src_dtype",
                                                       "dst_dtype"};
  static const std::vector<std::string_view> collective = {"bytes", "ranks", "dtype"};
  static const Op table[] = {
      {"gemm",
       {"m", "n", "k", "src_dtype", "wei_dtype", "dst_dtype", "wei_trans"},
       gemm_operands,
       gemm},
      {"attention",
       {"batch", "heads", "kv_heads", "head_dim", "new_tokens", "context", "causal", "window",
        "q_dtype", "kv_dtype", "dst_dtype"},
       attention_operands,
       attention},
      {"rmsnorm", normed, rmsnorm_operands, rmsnorm},
      {"layernorm", normed, layernorm_operands, layernorm},
      {"rope",
       {"rows", "heads", "head_dim", "rotary_dim", "src_dtype", "dst_dtype"},
       rope_operands,
       rope},
      {"gated_activation", chosen, gated_operands, gated_activation},
      {"activation", chosen, source_to_target, activation},
      {"softmax", plain, source_to_target, softmax},
      {"embedding",
       {"rows", "vocab", "hidden", "src_dtype", "dst_dtype"},
       embedding_operands,
       embedding},
      {"residual_add", plain, residual_operands, residual_add},
      {"quantize", plain, quantize_operands, quantize},
      {"dequantize", plain, dequantize_operands, dequantize},
      {"copy", {"bytes"}, copy_operands, copy},
      {"fma", {"lanes", "iterations", "dtype"}, fma_operands, fma},
      {"all_reduce", collective, collective_operands, one_rank},
      {"all_gather", collective, all_gather_operands, one_rank},
      {"reduce_scatter", collective, reduce_scatter_operands, one_rank},
      {"all_to_all", collective, all_to_all_operands, one_rank},
      {"broadcast", collective, collective_operands, one_rank},
      {"send_recv", collective, collective_operands, one_rank},
  };
  static const std::vector<Op> ops = [] {
    std::vector<Op> all(std::begin(table), std::end(table));
    const std::vector<Op> moe = moe_ops();
    all.insert(all.end(), moe.begin(), moe.end());
    return all;
  }();
  return ops;
}

}  // namespace fake
