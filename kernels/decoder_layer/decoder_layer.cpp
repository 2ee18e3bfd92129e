// decoder_layer: a whole dense layer of a llama or qwen as one kernel, for what fuses or compiles a
// graph: norm, attention over a cache, norm, a network with a SiLU gate, each added to the stream.
#include <cmath>
#include <map>

#include "core/numeric/cast.hpp"
#include "kernels/attention/pairs.hpp"
#include "kernels/decoder_layer/reference.hpp"
#include "kernels/rowwise.hpp"

namespace halmark {
namespace {

using decoder_layer::Reference;
using decoder_layer::Row;
using decoder_layer::Shape;

constexpr ParamSpec specs[] = {
    {.name = "batch", .high = size_max, .meaning = "sequences"},
    {.name = "hidden", .high = size_max, .meaning = "width of the stream"},
    {.name = "heads", .high = size_max, .meaning = "query heads"},
    {.name = "kv_heads", .high = size_max, .meaning = "key/value heads; divides heads"},
    {.name = "head_dim", .low = 2, .high = size_max, .meaning = "width of a head; even"},
    {.name = "intermediate", .high = size_max, .meaning = "width of the network"},
    {.name = "new_tokens", .high = size_max, .meaning = "tokens per sequence of this step"},
    {.name = "context", .high = size_max, .meaning = "keys that the last token sees, its own too"},
    {.name = "dtype",
     .kind = ParamKind::dtype,
     .allowed = float_dtypes,
     .meaning = "of stream, cache and weights"},
};

Shape shape_of(const Params& p) {
  return {p.at("batch"),    p.at("hidden"),       p.at("heads"),      p.at("kv_heads"),
          p.at("head_dim"), p.at("intermediate"), p.at("new_tokens"), p.at("context")};
}

Params params_of(const Shape& s, std::int64_t dtype) {
  return {{"batch", s.batch},           {"hidden", s.hidden},     {"heads", s.heads},
          {"kv_heads", s.kv_heads},     {"head_dim", s.head_dim}, {"intermediate", s.intermediate},
          {"new_tokens", s.new_tokens}, {"context", s.context},   {"dtype", dtype}};
}

// FLOPs per value as in the contracts of the single ops.
constexpr double norm_flops = 4, rope_flops = 3, softmax_flops = 5, gate_flops = 4;

class DecoderLayer final : public NamedContract {
 public:
  DecoderLayer()
      : NamedContract(
            "decoder_layer",
            "dst[batch*new_tokens,hidden] = a dense decoder layer (rmsnorm, attention with rope, "
            "rmsnorm, SiLU-gated network) of src, in one kernel",
            specs) {}

  std::optional<std::string> check_relations(const Params& p) const override {
    const Shape s = shape_of(p);
    const auto got = [](std::int64_t a, std::int64_t b) {
      return "; got " + std::to_string(a) + " and " + std::to_string(b);
    };
    if (s.heads % s.kv_heads != 0) {
      return "kv_heads must divide heads" + got(s.kv_heads, s.heads);
    }
    if (s.head_dim % 2 != 0) return "head_dim must be even; got " + std::to_string(s.head_dim);
    if (s.new_tokens > s.context) {
      return "context counts the new tokens too" + got(s.context, s.new_tokens);
    }
    return std::nullopt;
  }

  std::vector<OperandSpec> operands(const Params& p) const override;
  Work work(const Params& p) const override;
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t operand,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override;

  // Groups, phase and the width of a head stay.
  Params twin(const Params& p) const override {
    Shape s = shape_of(p);
    const bool is_whole = s.new_tokens == s.context;
    const std::int64_t group = s.heads / s.kv_heads;
    s.batch = std::min<std::int64_t>(s.batch, 2);
    s.kv_heads = std::min<std::int64_t>(s.kv_heads, 2);
    s.heads = s.kv_heads * group;
    s.hidden = std::min<std::int64_t>(s.hidden, 130);
    s.intermediate = std::min<std::int64_t>(s.intermediate, 130);
    s.new_tokens = std::min<std::int64_t>(s.new_tokens, 7);
    s.context = is_whole ? s.new_tokens : std::min<std::int64_t>(s.context, 67);
    return params_of(s, p.at("dtype"));
  }

  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override {
    static constexpr Shape shapes[] = {{1, 32, 1, 1, 16, 64, 1, 1},   {1, 64, 4, 2, 16, 96, 1, 33},
                                       {2, 48, 2, 1, 24, 80, 5, 5},   {3, 96, 6, 2, 32, 130, 1, 67},
                                       {1, 128, 4, 4, 32, 97, 7, 20}, {2, 33, 3, 1, 8, 17, 3, 19}};
    std::vector<Params> cases;
    for (const auto dtype : common_dtypes(float_dtypes, dtypes)) {
      for (const Shape& shape : shapes) cases.push_back(params_of(shape, dtype_value(dtype)));
    }
    return cases;
  }
};

// Weights are scaled so that sums keep the size of their terms.
std::vector<OperandSpec> DecoderLayer::operands(const Params& p) const {
  const Shape s = shape_of(p);
  const Dtype dtype = p.dtype("dtype");
  const auto stream = [&](std::string name, Role role) {
    return rows_operand(std::move(name), role, dtype, s.rows(), s.hidden);
  };
  const auto angle = [&](std::string name) {
    return OperandSpec{.name = std::move(name),
                       .role = Role::input,
                       .dtype = Dtype::f32,
                       .dims = {s.rows(), s.head_dim / 2},
                       .distribution = Distribution::uniform};
  };
  const auto gain = [&](std::string name) {
    return OperandSpec{
        .name = std::move(name), .role = Role::constant, .dtype = Dtype::f32, .dims = {s.hidden}};
  };
  const auto weight = [&](std::string name, std::int64_t out, std::int64_t in) {
    return OperandSpec{.name = std::move(name),
                       .role = Role::constant,
                       .dtype = dtype,
                       .dims = {out, in},
                       .scale = 1 / std::sqrt(as_double(in))};
  };
  const auto cache = [&](std::string name, Role role, std::int64_t tokens) {
    return OperandSpec{.name = std::move(name),
                       .role = role,
                       .dtype = dtype,
                       .dims = {s.batch, s.kv_heads, tokens, s.head_dim}};
  };
  std::vector<OperandSpec> out{stream("src", Role::input),
                               angle("cos"),
                               angle("sin"),
                               gain("attention_gain"),
                               weight("qkv", (s.heads + 2 * s.kv_heads) * s.head_dim, s.hidden),
                               weight("out", s.hidden, s.heads * s.head_dim),
                               gain("ffn_gain"),
                               weight("gate_up", 2 * s.intermediate, s.hidden),
                               weight("down", s.hidden, s.intermediate),
                               stream("dst", Role::output),
                               cache("new_k", Role::output, s.new_tokens),
                               cache("new_v", Role::output, s.new_tokens)};
  if (s.cached() > 0) {
    out.push_back(cache("k", Role::state, s.cached()));
    out.push_back(cache("v", Role::state, s.cached()));
  }
  return out;
}

Work DecoderLayer::work(const Params& p) const {
  const Shape s = shape_of(p);
  Work work = operand_traffic(operands(p));
  const auto rows = as_double(s.rows()), hidden = as_double(s.hidden);
  const auto heads = as_double(s.heads), kv_heads = as_double(s.kv_heads);
  const auto d = as_double(s.head_dim), wide = as_double(s.intermediate);
  const double pairs = as_double(s.batch) * attention_pairs(s.new_tokens, s.context, true, 0);
  const double weights = hidden * (2 * heads + 2 * kv_heads) * d + 3 * hidden * wide;
  work.matmul_flops = 2 * rows * weights + 2 * heads * d * 2 * pairs;
  work.vector_flops = rows * (2 * norm_flops * hidden + rope_flops * (heads + kv_heads) * d +
                              gate_flops * wide + 2 * hidden) +
                      softmax_flops * heads * pairs;
  work.compute_dtype = p.dtype("dtype");
  return work;
}

// Rows of one sequence together, since they share its keys. For long prefills this takes the
// parent as long as the layer's products of all tokens in front of the checked ones.
void DecoderLayer::reference(const Params& p, const InputReader& inputs, int rank,
                             std::size_t operand, std::span<const std::int64_t> elements,
                             std::span<Expected> out) const {
  const Shape s = shape_of(p);
  const Dtype dtype = p.dtype("dtype");
  const Reference layer(s, dtype, inputs, rank);
  const auto state = [&](const Row& row, std::int64_t column, std::size_t i) {
    const auto at = as_size(column);
    const double value = row.value[at];
    out[i] = {value, rounded_tolerance(dtype, value, accumulation_factor * row.error[at])};
  };
  if (operand != decoder_layer::result) {
    const bool is_key = operand == decoder_layer::new_keys;
    for_each_row(elements, s.head_dim, [&](std::int64_t row, std::span<const std::size_t> of_row) {
      const std::int64_t token = row % s.new_tokens, head = row / s.new_tokens % s.kv_heads;
      const std::int64_t sequence = row / s.new_tokens / s.kv_heads;
      const Row values =
          is_key ? layer.new_key(sequence, head, token) : layer.new_value(sequence, head, token);
      for (const std::size_t i : of_row) state(values, elements[i] - row * s.head_dim, i);
    });
    return;
  }
  std::map<std::int64_t, std::map<std::int64_t, std::vector<std::size_t>>> wanted;
  for_each_row(elements, s.hidden, [&](std::int64_t row, std::span<const std::size_t> of_row) {
    wanted[row / s.new_tokens][row % s.new_tokens].assign(of_row.begin(), of_row.end());
  });
  for (const auto& [sequence, by_token] : wanted) {
    std::vector<std::int64_t> tokens;
    for (const auto& [token, of_row] : by_token) tokens.push_back(token);
    const std::vector<Row> rows = layer.results(sequence, tokens);
    auto row = rows.begin();
    for (const auto& [token, of_row] : by_token) {
      for (const std::size_t i : of_row) state(*row, elements[i] % s.hidden, i);
      ++row;
    }
  }
}

}  // namespace

const OpContract& decoder_layer_contract() {
  static const DecoderLayer contract;
  return contract;
}

}  // namespace halmark
