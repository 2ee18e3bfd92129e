// A whole decoder layer as one graph, so that the runtime fuses across its ops.
#include <cmath>
#include <limits>

#include "table.hpp"

namespace hm_openvino {
namespace {

struct Shape {
  std::int64_t batch, hidden, heads, kv_heads, head_dim, intermediate, new_tokens, context;
  std::int32_t dtype;
  std::int64_t cached() const { return context - new_tokens; }
  std::int64_t group() const { return heads / kv_heads; }
};

Shape shape_of(const plug::Params& p) {
  plug::reject_unknown(p, {"batch", "hidden", "heads", "kv_heads", "head_dim", "intermediate",
                           "new_tokens", "context", "dtype"});
  const Shape s{p.extent("batch"),      p.extent("hidden"),   p.extent("heads"),
                p.extent("kv_heads"),   p.extent("head_dim"), p.extent("intermediate"),
                p.extent("new_tokens"), p.extent("context"),  p.dtype("dtype")};
  if (s.heads % s.kv_heads != 0) plug::unsupported("kv_heads must divide heads");
  if (s.head_dim % 2 != 0) plug::unsupported("head_dim must be even");
  if (s.new_tokens > s.context) plug::unsupported("more new tokens than context");
  if (s.dtype != HM_DTYPE_F32 && s.dtype != HM_DTYPE_BF16 && s.dtype != HM_DTYPE_F16) {
    plug::unsupported("decoder_layer of " + std::string(plug::dtype_name(s.dtype)) +
                      ": offered are f32, bf16 and f16");
  }
  return s;
}

// Operands by the positions of the contract.
enum Position : std::size_t {
  src,
  cosine,
  sine,
  attention_gain,
  qkv,
  out,
  ffn_gain,
  gate_up,
  down
};

class Layer {
 public:
  Layer(const plug::Params& problem, Graph& graph)
      : s_(shape_of(problem)), operands_(decoder_layer_operands(problem)), graph_(graph) {}

  void build() {
    const Value stream = graph_.convert(parameter(src), HM_DTYPE_F32);
    cosine_ = graph_.reshape(parameter(cosine), {s_.batch, 1, s_.new_tokens, s_.head_dim / 2});
    sine_ = graph_.reshape(parameter(sine), {s_.batch, 1, s_.new_tokens, s_.head_dim / 2});
    const Value attended = graph_.binary("Add", stream, attention(norm(stream, attention_gain)));
    const Value result = graph_.binary("Add", attended, network(norm(attended, ffn_gain)));
    for (const Value& value : {result, keys_, values_}) {
      graph_.result(graph_.convert(value, s_.dtype));
    }
  }

 private:
  Value parameter(std::size_t at) {
    const plug::Operand& o = operands_[at];
    return graph_.parameter(o.name, o.dtype, o.dims);
  }
  Value weight(std::size_t at) {
    const plug::Operand& o = operands_[at];
    return graph_.convert(graph_.weights(o.name, at, o.dtype, o.dims), HM_DTYPE_F32);
  }
  Value times(const Value& a, const Value& b) { return graph_.binary("Multiply", a, b); }

  // The order that the runtime fuses into one RMS.
  Value norm(const Value& x, std::size_t gain) {
    const Value squares = graph_.binary("Power", x, graph_.constant(2));
    const Value mean = graph_.node("ReduceMean", "opset1", {{"keep_dims", "true"}},
                                   {squares, graph_.integers({-1})}, HM_DTYPE_F32, {x.dims[0], 1});
    const Value root = graph_.unary("Sqrt", graph_.binary("Add", mean, graph_.constant(1e-6F)));
    return times(times(x, graph_.binary("Divide", graph_.constant(1), root)), weight(gain));
  }

  // Columns [first, first + count) heads of a row of q, k and v, to [batch, count, new_tokens, d].
  Value heads(const Value& all, std::int64_t first, std::int64_t count) {
    const Value part = graph_.slice(all, first * s_.head_dim, (first + count) * s_.head_dim, 1);
    return graph_.transpose(graph_.reshape(part, {s_.batch, s_.new_tokens, count, s_.head_dim}),
                            {0, 2, 1, 3});
  }

  Value rotated(const Value& x) {
    const std::int64_t half = s_.head_dim / 2;
    const Value first = graph_.slice(x, 0, half, 3), second = graph_.slice(x, half, 2 * half, 3);
    const std::vector<Value> parts{
        graph_.binary("Subtract", times(first, cosine_), times(second, sine_)),
        graph_.binary("Add", times(second, cosine_), times(first, sine_))};
    return graph_.node("Concat", "opset1", {{"axis", "3"}}, parts, HM_DTYPE_F32, x.dims);
  }

  Value with_cache(const Value& fresh, std::size_t cache) {
    if (s_.cached() == 0) return fresh;
    const Value old = graph_.convert(parameter(cache), HM_DTYPE_F32);
    return graph_.node("Concat", "opset1", {{"axis", "2"}}, {old, fresh}, HM_DTYPE_F32,
                       {s_.batch, s_.kv_heads, s_.context, s_.head_dim});
  }

  // Added to scores[group * new_tokens, context]: a token sees the cache and what is not behind it.
  Value mask() {
    const std::int64_t rows = s_.group() * s_.new_tokens;
    std::vector<float> mask(static_cast<std::size_t>(rows * s_.context));
    for (std::size_t i = 0; i < mask.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / s_.context;
      const auto key = static_cast<std::int64_t>(i) % s_.context;
      const bool is_seen = key <= s_.cached() + row % s_.new_tokens;
      mask[i] = is_seen ? 0 : -std::numeric_limits<float>::infinity();
    }
    return graph_.constant(mask, {rows, s_.context});
  }

  // The query heads of a key head are rows of one product.
  Value attention(const Value& x) {
    const Value all = graph_.matmul(x, weight(qkv), true);
    const Value q = rotated(heads(all, 0, s_.heads));
    keys_ = rotated(heads(all, s_.heads, s_.kv_heads));
    values_ = heads(all, s_.heads + s_.kv_heads, s_.kv_heads);
    constexpr std::size_t key_cache = 12, value_cache = 13;
    const Value keys = with_cache(keys_, key_cache), values = with_cache(values_, value_cache);
    const Dims grouped{s_.batch, s_.kv_heads, s_.group() * s_.new_tokens, s_.head_dim};
    const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s_.head_dim)));
    Value scores =
        times(graph_.matmul(graph_.reshape(q, grouped), keys, true), graph_.constant(scale));
    if (s_.new_tokens > 1) scores = graph_.binary("Add", scores, mask());
    Value mixed = graph_.matmul(graph_.softmax(scores), values, false);
    mixed = graph_.reshape(mixed, {s_.batch, s_.heads, s_.new_tokens, s_.head_dim});
    mixed = graph_.reshape(graph_.transpose(mixed, {0, 2, 1, 3}),
                           {s_.batch * s_.new_tokens, s_.heads * s_.head_dim});
    return graph_.matmul(mixed, weight(out), true);
  }

  Value network(const Value& x) {
    const Value both = graph_.matmul(x, weight(gate_up), true);
    const Value gate = graph_.slice(both, 0, s_.intermediate, 1);
    const Value up = graph_.slice(both, s_.intermediate, 2 * s_.intermediate, 1);
    const Value gated = times(graph_.unary("Swish", gate, "opset4"), up);
    return graph_.matmul(gated, weight(down), true);
  }

  const Shape s_;
  const Operands operands_;
  Graph& graph_;
  Value cosine_, sine_, keys_, values_;
};

}  // namespace

Operands decoder_layer_operands(const plug::Params& problem) {
  const Shape s = shape_of(problem);
  const std::int64_t rows = s.batch * s.new_tokens, projected = s.heads * s.head_dim;
  const Dims stream{rows, s.hidden}, angles{rows, s.head_dim / 2};
  const Dims fresh{s.batch, s.kv_heads, s.new_tokens, s.head_dim};
  Operands all{{"src", HM_ROLE_INPUT, s.dtype, stream, 0, ""},
               {"cos", HM_ROLE_INPUT, HM_DTYPE_F32, angles, 0, ""},
               {"sin", HM_ROLE_INPUT, HM_DTYPE_F32, angles, 0, ""},
               {"attention_gain", HM_ROLE_CONSTANT, HM_DTYPE_F32, {s.hidden}, 0, ""},
               {"qkv",
                HM_ROLE_CONSTANT,
                s.dtype,
                {(s.heads + 2 * s.kv_heads) * s.head_dim, s.hidden},
                0,
                ""},
               {"out", HM_ROLE_CONSTANT, s.dtype, {s.hidden, projected}, 0, ""},
               {"ffn_gain", HM_ROLE_CONSTANT, HM_DTYPE_F32, {s.hidden}, 0, ""},
               {"gate_up", HM_ROLE_CONSTANT, s.dtype, {2 * s.intermediate, s.hidden}, 0, ""},
               {"down", HM_ROLE_CONSTANT, s.dtype, {s.hidden, s.intermediate}, 0, ""},
               {"dst", HM_ROLE_OUTPUT, s.dtype, stream, 0, ""},
               {"new_k", HM_ROLE_OUTPUT, s.dtype, fresh, 0, ""},
               {"new_v", HM_ROLE_OUTPUT, s.dtype, fresh, 0, ""}};
  if (s.cached() > 0) {
    const Dims old{s.batch, s.kv_heads, s.cached(), s.head_dim};
    all.push_back({"k", HM_ROLE_STATE, s.dtype, old, 0, ""});
    all.push_back({"v", HM_ROLE_STATE, s.dtype, old, 0, ""});
  }
  return all;
}

void build_decoder_layer(const plug::Params& problem, Graph& graph) {
  Layer(problem, graph).build();
}

std::int32_t decoder_layer_precision(const plug::Params& problem) { return problem.dtype("dtype"); }

}  // namespace hm_openvino
