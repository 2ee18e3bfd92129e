// moe_route: the experts of each token and their weights from the router's logits.
#include <cmath>
#include <numeric>

#include "core/lists.hpp"
#include "kernels/moe.hpp"
#include "kernels/rowwise.hpp"

namespace halmark {
namespace {

constexpr std::int64_t scorings[] = {0, 1};
constexpr std::int64_t softmax_scoring = 0;

constexpr ParamSpec specs[] = {
    tokens_spec,
    experts_spec,
    top_k_spec,
    src_dtype_spec,
    {.name = "scoring",
     .kind = ParamKind::choice,
     .fallback = softmax_scoring,
     .allowed = scorings,
     .meaning = "0 softmax, 1 sigmoid"},
    {.name = "renormalize",
     .kind = ParamKind::flag,
     .low = 0,
     .high = 1,
     .fallback = 1,
     .meaning = "the weights of a token sum to 1"},
};

constexpr std::size_t expert_index = 1;
constexpr double flops_per_logit = 5;  // as softmax

// The token's experts in descending order of their logits, the lower index first among equals.
std::vector<std::size_t> selection(std::span<const double> logits, std::size_t top_k) {
  auto order = mapped(indices(logits), std::identity());
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  order.resize(top_k);
  return order;
}

struct Scores {
  std::vector<double> selected;
  double relative_error = 0;
};

// Each exp: its own error and that of its rounded argument. A softmax repeats both in its sum,
// whose terms are positive; renormalising does so once more over the selected scores.
Scores scores(std::span<const double> logits, std::span<const std::size_t> selected,
              const Params& p) {
  const auto [lowest, highest] = std::ranges::minmax(logits);
  Scores out;
  double sum = 0;
  if (p.at("scoring") == softmax_scoring) {
    const double exp_error = transcendental_error + u_f32 * (highest - lowest);
    for (const double x : logits) sum += std::exp(x - highest);
    for (const auto e : selected) out.selected.push_back(std::exp(logits[e] - highest) / sum);
    out.relative_error =
        2 * exp_error + accumulation_error(as_double(logits.size()), 1) + 2 * u_f32;
  } else {
    for (const auto e : selected) out.selected.push_back(1 / (1 + std::exp(-logits[e])));
    out.relative_error = transcendental_error + 3 * u_f32;
  }
  if (p.at("renormalize") != 0) {
    sum = std::accumulate(out.selected.begin(), out.selected.end(), 0.0);
    for (double& score : out.selected) score /= sum;
    out.relative_error =
        2 * out.relative_error + accumulation_error(as_double(selected.size()), 1) + 2 * u_f32;
  }
  return out;
}

class MoeRoute final : public NamedContract {
 public:
  MoeRoute()
      : NamedContract("moe_route",
                      "expert_index, weight[tokens,top_k] = the largest of logits[tokens,experts], "
                      "descending, "
                      "the lower index first among equals",
                      specs) {}

  std::optional<std::string> check_relations(const Params& p) const override {
    const auto top_k = p.at("top_k"), experts = p.at("experts");
    if (top_k <= experts) return std::nullopt;
    return "a token picks each expert at most once; got top_k=" + std::to_string(top_k) +
           " of experts=" + std::to_string(experts);
  }

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto tokens = p.at("tokens"), top_k = p.at("top_k");
    return {
        rows_operand("logits", Role::input, p.dtype("src_dtype"), tokens, p.at("experts")),
        rows_operand("expert_index", Role::output, Dtype::s32, tokens, top_k),
        rows_operand("weight", Role::output, Dtype::f32, tokens, top_k),
    };
  }

  Work work(const Params& p) const override {
    Work work = operand_traffic(operands(p));
    work.vector_flops = product(p, {"tokens", "experts"}, flops_per_logit);
    return work;
  }

  // The selection is exact: it goes by the logits, whose order both scorings keep, and not by
  // scores that rounding may make equal.
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t operand,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto experts = p.at("experts"), top_k = p.at("top_k");
    for_each_row(elements, top_k, [&](std::int64_t token, std::span<const std::size_t> listed) {
      const auto logits = read_row(inputs, rank, 0, token * experts, experts);
      const auto selected = selection(logits, as_size(top_k));
      const auto scored = scores(logits, selected, p);
      for (const auto i : listed) {
        const auto slot = as_size(elements[i] - token * top_k);
        if (operand == expert_index) {
          out[i] = {.value = as_double(selected[slot])};
          continue;
        }
        const double weight = scored.selected[slot];
        out[i] = {
            .value = weight,
            .tolerance = rounded_tolerance(Dtype::f32, weight, scored.relative_error * weight)};
      }
    });
  }

  Params twin(const Params& p) const override {
    Params reduced = p;
    reduced.set("tokens", twin_rows(p.at("tokens"), p.at("experts")));
    return reduced;
  }

  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override {
    struct Shape {
      std::int64_t tokens, experts, top_k;
    };
    static constexpr Shape shapes[] = {{1, 1, 1},    {1, 32, 8}, {2, 7, 7},    {5, 127, 6},
                                       {16, 256, 8}, {33, 8, 2}, {129, 31, 4}, {3, 513, 1}};
    std::vector<Params> cases;
    for (const auto dtype : common_dtypes(float_dtypes, dtypes)) {
      for (const auto scoring : scorings) {
        for (const std::int64_t renormalize : {1, 0}) {
          for (const auto& shape : shapes) {
            cases.push_back({{"tokens", shape.tokens},
                             {"experts", shape.experts},
                             {"top_k", shape.top_k},
                             {"src_dtype", dtype_value(dtype)},
                             {"scoring", scoring},
                             {"renormalize", renormalize}});
          }
        }
      }
    }
    return cases;
  }
};

}  // namespace

const OpContract& moe_route_contract() {
  static const MoeRoute contract;
  return contract;
}

}  // namespace halmark
