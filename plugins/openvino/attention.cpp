// attention as two products around a softmax. The query heads of one key head are rows of one
// product, so keys and values are never repeated.
#include <cmath>
#include <limits>

#include "table.hpp"

namespace hm_openvino {
namespace {

struct Attention {
  std::int64_t batch, heads, kv_heads, head_dim, new_tokens, context, window;
  bool causal;
  std::int32_t q, kv, dst;
  std::int64_t group() const { return heads / kv_heads; }
};

Attention attention_of(const plug::Params& p) {
  plug::reject_unknown(p, {"batch", "heads", "kv_heads", "head_dim", "new_tokens", "context",
                           "causal", "window", "q_dtype", "kv_dtype", "dst_dtype"});
  const Attention a{p.extent("batch"),       p.extent("heads"),
                    p.extent("kv_heads"),    p.extent("head_dim"),
                    p.extent("new_tokens"),  p.extent("context"),
                    p.value_or("window", 0), p.value_or("causal", 1) != 0,
                    p.dtype("q_dtype"),      p.dtype("kv_dtype"),
                    p.dtype("dst_dtype")};
  if (a.heads % a.kv_heads != 0) plug::unsupported("kv_heads must divide heads");
  if (a.new_tokens > a.context) plug::unsupported("more new tokens than context");
  return a;
}

// Key j is seen by query i, whose position is context - new_tokens + i.
bool is_seen(const Attention& a, std::int64_t i, std::int64_t j) {
  const std::int64_t position = a.context - a.new_tokens + i;
  if (a.causal && j > position) return false;
  return a.window <= 0 || j > position - a.window;
}

// What is added to scores[group * new_tokens, context]: 0 or minus infinity.
Value mask_of(const Attention& a, Graph& graph) {
  std::vector<float> mask;
  const std::int64_t rows = a.group() * a.new_tokens;
  mask.reserve(static_cast<std::size_t>(rows * a.context));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t j = 0; j < a.context; ++j) {
      const bool seen = is_seen(a, row % a.new_tokens, j);
      mask.push_back(seen ? 0 : -std::numeric_limits<float>::infinity());
    }
  }
  return graph.constant(mask, {rows, a.context});
}

bool hides_keys(const Attention& a) {
  return (a.causal && a.new_tokens > 1) || (a.window > 0 && a.window < a.context);
}

}  // namespace

Operands attention_operands(const plug::Params& problem) {
  const Attention a = attention_of(problem);
  const bool is_float = a.q == HM_DTYPE_F32 || a.q == HM_DTYPE_BF16 || a.q == HM_DTYPE_F16;
  if (!is_float || a.kv != a.q || a.dst != a.q) {
    plug::unsupported("attention of " + std::string(plug::dtype_name(a.q)) + " over " +
                      std::string(plug::dtype_name(a.kv)) + " to " +
                      std::string(plug::dtype_name(a.dst)) +
                      ": offered are f32, bf16 and f16, the same in all three");
  }
  const Dims queries{a.batch, a.new_tokens, a.heads, a.head_dim};
  const Dims keys{a.batch, a.kv_heads, a.context, a.head_dim};
  return {{"q", HM_ROLE_INPUT, a.q, queries, 0, ""},
          {"k", HM_ROLE_STATE, a.kv, keys, 0, ""},
          {"v", HM_ROLE_STATE, a.kv, keys, 0, ""},
          {"dst", HM_ROLE_OUTPUT, a.dst, queries, 0, ""}};
}

void build_attention(const plug::Params& problem, Graph& graph) {
  const Attention a = attention_of(problem);
  const Operands operands = attention_operands(problem);
  const auto in_f32 = [&](std::size_t i) {
    const plug::Operand& o = operands[i];
    return graph.convert(graph.parameter(o.name, o.dtype, o.dims), HM_DTYPE_F32);
  };
  Value q = in_f32(0);
  const Value k = in_f32(1), v = in_f32(2);
  const std::int64_t rows = a.group() * a.new_tokens;
  q = graph.reshape(q, {a.batch, a.new_tokens, a.kv_heads, a.group(), a.head_dim});
  q = graph.reshape(graph.transpose(q, {0, 2, 3, 1, 4}), {a.batch, a.kv_heads, rows, a.head_dim});
  const double scale = 1 / std::sqrt(static_cast<double>(a.head_dim));
  Value scores =
      graph.binary("Multiply", graph.matmul(q, k, true), graph.constant(static_cast<float>(scale)));
  if (hides_keys(a)) scores = graph.binary("Add", scores, mask_of(a, graph));
  Value out = graph.matmul(graph.softmax(scores), v, false);
  out = graph.reshape(out, {a.batch, a.kv_heads, a.group(), a.new_tokens, a.head_dim});
  out = graph.reshape(graph.transpose(out, {0, 3, 1, 2, 4}), operands[3].dims);
  graph.result(graph.convert(out, a.dst));
}

std::int32_t attention_precision(const plug::Params& problem) { return problem.dtype("q_dtype"); }

}  // namespace hm_openvino
