// attention: softmax(q k^T / sqrt(head_dim)) v over a key/value cache; prefill and decode, MHA, GQA
// and MQA, causal or full, with or without a sliding window.
#include <cmath>

#include "core/lists.hpp"
#include "kernels/attention/pairs.hpp"
#include "kernels/kv_cache.hpp"
#include "kernels/rows.hpp"
#include "kernels/tolerance.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    {.name = "batch", .high = size_max, .meaning = "sequences"},
    {.name = "heads", .high = size_max, .meaning = "query heads"},
    {.name = "kv_heads", .high = size_max, .meaning = "key/value heads; divides heads"},
    {.name = "head_dim", .high = size_max, .meaning = "width of a head"},
    {.name = "new_tokens", .high = size_max, .meaning = "queries per sequence"},
    {.name = "context", .high = size_max, .meaning = "keys that the last query sees"},
    {.name = "causal",
     .kind = ParamKind::flag,
     .low = 0,
     .high = 1,
     .fallback = 1,
     .meaning = "a query sees keys up to its own position"},
    {.name = "window",
     .low = 0,
     .high = size_max,
     .fallback = 0,
     .meaning = "most recent keys a query sees; 0 = all"},
    {.name = "q_dtype", .kind = ParamKind::dtype, .allowed = query_dtypes, .meaning = "of q"},
    {.name = "kv_dtype", .kind = ParamKind::dtype, .allowed = kv_dtypes, .meaning = "of k and v"},
    {.name = "dst_dtype", .kind = ParamKind::dtype, .allowed = float_dtypes, .meaning = "of dst"},
};

constexpr std::size_t q_index = 0, k_index = 1, v_index = 2;

// softmax flops per score: scale, subtract, exp, sum, divide.
constexpr double softmax_flops = 5;

struct Shape {
  std::int64_t batch, heads, kv_heads, head_dim, new_tokens, context, window;
  bool causal;
};

Shape shape_of(const Params& p) {
  return {p.at("batch"),      p.at("heads"),   p.at("kv_heads"), p.at("head_dim"),
          p.at("new_tokens"), p.at("context"), p.at("window"),   p.at("causal") != 0};
}

// Scores of one query against its keys, then the weights, with the bound on each score's error.
struct Weights {
  std::vector<double> p;      // softmax
  std::vector<double> error;  // relative error of p before normalising
  double mean_error = 0;      // sum of p * error
};

// A score is a dot product of head_dim terms accumulated in f32 and scaled; exp adds its own error
// and turns an absolute score error into a relative one.
Weights weights_of(const std::vector<double>& q, const std::vector<double>& keys) {
  const auto d = q.size();
  const auto count = keys.size() / d;
  const double scale = 1 / std::sqrt(as_double(d));
  Weights w{.p = std::vector<double>(count), .error = std::vector<double>(count)};
  double highest = -HUGE_VAL;
  for (const auto j : indices(count)) {
    const auto score = dot(q.data(), keys.data() + j * d, d);
    w.p[j] = score.value * scale;
    w.error[j] = accumulation_error(as_double(d), score.magnitude * scale) +
                 4 * u_f32 * std::fabs(w.p[j]) + transcendental_error;
    highest = std::max(highest, w.p[j]);
  }
  double sum = 0;
  for (auto& p : w.p) sum += p = std::exp(p - highest);
  for (const auto j : indices(count)) {
    w.p[j] /= sum;
    w.mean_error += w.p[j] * w.error[j];
  }
  return w;
}

// Columns of the value rows that a query sees: all rows at once where many columns are checked,
// value by value where one or two of a hundred are.
class ValueColumns {
 public:
  ValueColumns(const InputReader& inputs, int rank, std::int64_t first, std::int64_t keys,
               std::int64_t width, std::size_t wanted)
      : inputs_(inputs), rank_(rank), first_(first), width_(width), column_(index_of(keys)) {
    if (wanted * 8 > index_of(width)) all_ = read_row(inputs, rank, v_index, first, keys * width);
  }

  // Valid until the next call.
  const std::vector<double>& column(std::int64_t index) {
    for (std::size_t j = 0; j < column_.size(); ++j) {
      const auto at = as_int64(j) * width_ + index;
      if (all_.empty()) {
        inputs_.read(rank_, v_index, first_ + at, std::span(column_).subspan(j, 1));
      } else {
        column_[j] = all_[index_of(at)];
      }
    }
    return column_;
  }

 private:
  static std::size_t index_of(std::int64_t value) { return as_size(value); }
  const InputReader& inputs_;
  int rank_;
  std::int64_t first_, width_;
  std::vector<double> all_;
  std::vector<double> column_;
};

class Attention final : public NamedContract {
 public:
  Attention()
      : NamedContract(
            "attention",
            "dst = softmax(q k^T / sqrt(head_dim)) v; q, dst[batch,new_tokens,heads,head_dim], k, "
            "v[batch,kv_heads,context,head_dim]",
            specs) {}

  std::optional<std::string> check_relations(const Params& p) const override {
    const auto s = shape_of(p);
    const auto pair = [](std::string_view a, std::int64_t x, std::string_view b, std::int64_t y) {
      return std::string(a) + "=" + std::to_string(x) + " and " + std::string(b) + "=" +
             std::to_string(y);
    };
    if (s.heads % s.kv_heads != 0) {
      return "kv_heads must divide heads; got " + pair("heads", s.heads, "kv_heads", s.kv_heads);
    }
    if (s.new_tokens > s.context) {
      return "context counts the new tokens too; got " +
             pair("new_tokens", s.new_tokens, "context", s.context);
    }
    if (s.window > 0 && !s.causal) return "a window needs causal=1";
    return std::nullopt;
  }

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto s = shape_of(p);
    const std::vector queries{s.batch, s.new_tokens, s.heads, s.head_dim};
    const std::vector keys{s.batch, s.kv_heads, s.context, s.head_dim};
    const auto kv = p.dtype("kv_dtype");
    return {{.name = "q", .role = Role::input, .dtype = p.dtype("q_dtype"), .dims = queries},
            {.name = "k", .role = Role::state, .dtype = kv, .dims = keys},
            {.name = "v", .role = Role::state, .dtype = kv, .dims = keys},
            {.name = "dst", .role = Role::output, .dtype = p.dtype("dst_dtype"), .dims = queries}};
  }

  // Model pairs of the mask, whatever a tiled kernel executes; each visible key is read once.
  Work work(const Params& p) const override {
    const auto s = shape_of(p);
    const double pairs =
        as_double(s.batch) * attention_pairs(s.new_tokens, s.context, s.causal, s.window);
    const auto heads = as_double(s.heads), d = as_double(s.head_dim);
    const auto query_values = s.batch * s.new_tokens * s.heads * s.head_dim;
    const auto rows =
        s.batch * s.kv_heads * attention_keys(s.new_tokens, s.context, s.causal, s.window);
    const auto cache = 2 * as_double(rows * kv_row_bytes(p.dtype("kv_dtype"), s.head_dim));
    return {.matmul_flops = 2 * heads * d * 2 * pairs,
            .vector_flops = softmax_flops * heads * pairs,
            .bytes_read = as_double(dtype_bytes(p.dtype("q_dtype"), query_values)) + cache,
            .bytes_written = as_double(dtype_bytes(p.dtype("dst_dtype"), query_values)),
            .constant_bytes = cache,
            .compute_dtype = p.dtype("q_dtype")};
  }

  // dst = sum p_j v_j with p = softmax(s). A relative error e_j of each unnormalised weight moves
  // p_j by p_j (e_j - sum p e), so dst moves by at most sum p_j e_j |v_j| + (sum p e)(sum p |v|).
  // Kernels may round p to the type of v before the product (each term and the sum of weights by
  // u), and accumulate the products in f32.
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto s = shape_of(p);
    const auto d = s.head_dim;
    const auto dst = p.dtype("dst_dtype");
    const double u_p = unit_roundoff(p.dtype("kv_dtype"));
    for_each_row(elements, d, [&](std::int64_t row, std::span<const std::size_t> positions) {
      const auto head = row % s.heads, query = row / s.heads % s.new_tokens;
      const auto sequence = row / s.heads / s.new_tokens;
      const auto keys = visible_keys(query, s.new_tokens, s.context, s.causal, s.window);
      const auto kv_head = head / (s.heads / s.kv_heads);
      const auto first = ((sequence * s.kv_heads + kv_head) * s.context + keys.begin) * d;
      const auto w = weights_of(read_row(inputs, rank, q_index, row * d, d),
                                read_row(inputs, rank, k_index, first, keys.count() * d));
      ValueColumns values(inputs, rank, first, keys.count(), d, positions.size());
      for (const auto i : positions) {
        const auto& column = values.column(elements[i] - row * d);
        double sum = 0, magnitude = 0, weighted = 0;
        for (const auto j : indices(w.p)) {
          const double term = w.p[j] * column[j];
          sum += term;
          magnitude += std::fabs(term);
          weighted += std::fabs(term) * w.error[j];
        }
        const auto n = as_double(keys.count());
        const double error = weighted + w.mean_error * magnitude + 2 * u_p * magnitude +
                             2 * accumulation_error(n, magnitude);
        out[i] = {.value = sum, .tolerance = rounded_tolerance(dst, sum, error)};
      }
    });
  }

  // Group size, head width, phase and mask stay; sequences, heads and tokens shrink.
  Params twin(const Params& p) const override {
    const auto s = shape_of(p);
    const auto kv_heads = std::min<std::int64_t>(s.kv_heads, 2);
    const auto new_tokens = std::min<std::int64_t>(s.new_tokens, 37);
    const auto context = std::min<std::int64_t>(s.context, s.new_tokens == s.context ? 37 : 293);
    Params reduced = p;
    reduced.set("batch", std::min<std::int64_t>(s.batch, 3));
    reduced.set("kv_heads", kv_heads);
    reduced.set("heads", kv_heads * (s.heads / s.kv_heads));
    reduced.set("new_tokens", new_tokens);
    reduced.set("context", context);
    // A window that bites keeps biting.
    if (s.window > 0 && s.window < s.context) {
      reduced.set("window", std::min(s.window, std::max<std::int64_t>(context / 2, 1)));
    }
    return reduced;
  }

  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override;
};

std::vector<Params> Attention::conformance_params(std::span<const Dtype> dtypes) const {
  static constexpr Shape shapes[] = {
      {1, 1, 1, 1, 1, 1, 0, true},        {1, 4, 4, 64, 1, 33, 0, true},
      {3, 8, 2, 64, 1, 129, 0, true},     {2, 6, 1, 80, 1, 257, 0, true},
      {1, 4, 2, 64, 31, 31, 0, true},     {2, 4, 1, 16, 65, 65, 0, true},
      {1, 2, 2, 128, 17, 100, 0, true},   {2, 4, 2, 32, 13, 13, 0, false},
      {1, 4, 2, 40, 1, 127, 32, true},    {2, 2, 1, 64, 67, 131, 16, true},
      {1, 16, 8, 128, 129, 129, 0, true}, {1, 6, 2, 40, 45, 290, 23, true},
  };
  std::vector<Params> cases;
  for (const auto dtype : common_dtypes(float_dtypes, dtypes)) {
    for (const auto& s : shapes) {
      const auto number = dtype_value(dtype);
      cases.push_back({{"batch", s.batch},
                       {"heads", s.heads},
                       {"kv_heads", s.kv_heads},
                       {"head_dim", s.head_dim},
                       {"new_tokens", s.new_tokens},
                       {"context", s.context},
                       {"causal", s.causal ? 1 : 0},
                       {"window", s.window},
                       {"q_dtype", number},
                       {"kv_dtype", number},
                       {"dst_dtype", number}});
    }
  }
  return cases;
}

}  // namespace

const OpContract& attention_contract() {
  static const Attention contract;
  return contract;
}

}  // namespace halmark
