// The formula of an operator with its numbers.
#include "model/utilisation/explain.hpp"

#include "fixtures.hpp"

namespace halmark::model_test {
namespace {

std::string explained(const OperatorGraph& g, std::string_view name,
                      const std::optional<TrainingCost>& cost = std::nullopt) {
  for (std::size_t i = 0; i < g.operators.size(); ++i) {
    if (g.operators[i].name == name) return explain_operator(g, i, cost, std::nullopt);
  }
  return "no such operator";
}

TEST(Explain, a_product_is_its_three_sizes) {
  const OperatorGraph g = graph_of("qwen3-0.6b", decode(8, 1024, {.tp = 2}));
  const std::string text = explained(g, "q_proj");
  says(text, "gemm: 2 m n k = 2 x 8 x 2048 x 1024 = 33,554,432 FLOPs");
  says(text, "x 28 layers = 939,524,096 FLOPs in the whole model");
  says(text, "one rank: gemm: 2 m n k = 2 x 8 x 1024 x 1024 = 16,777,216 FLOPs");
  says(text, "= 469,762,048 FLOPs a rank");
}

TEST(Explain, attention_is_score_and_values_over_pairs) {
  const OperatorGraph g = graph_of("qwen3-0.6b", prefill(2, 4, 6));
  const std::string text = explained(g, "attention");
  // Two sequences of 4 queries after 2 cached keys: 4 x 2 + 10 pairs each.
  says(text, "S P + S (S + 1) / 2) = 2 sequences, S 4, P 2 = 36");
  says(text, "score: 2 heads head_dim pairs = 2 x 16 x 128 x 36 = 147,456 FLOPs");
  says(text, "AV: 2 heads head_dim pairs = 2 x 16 x 128 x 36 = 147,456 FLOPs");
}

TEST(Explain, experts_multiply_the_rows_of_all_their_tokens) {
  const OperatorGraph g = graph_of(tiny_moe(), prefill(2, 8, 8));
  says(explained(g, "expert_gate_up"), "2 rows n k = 2 x 32 x 32 x 8");
}

TEST(Explain, training_tells_the_passes_apart) {
  const OperatorGraph g = graph_of(tiny(), training(2, 16));
  const TrainingCost cost = training_cost(g, {.recompute = Recompute::full});
  // 2 x 32 x 16 x 8 FLOPs in 4 layers, forward.
  says(explained(g, "q_proj", cost),
       "forward 32,768 + backward 65,536 = 98,304 FLOPs; recomputed 32,768");
}

TEST(Explain, every_operator_of_every_kind_has_an_explanation) {
  for (const OperatorGraph& g :
       {graph_of(tiny_moe(), prefill(4, 8, 8, {.dp = 2, .tp = 2, .pp = 2, .ep = 2})),
        graph_of(tiny(), decode(4, 8, {.tp = 2}, int8()))}) {
    for (std::size_t i = 0; i < g.operators.size(); ++i) {
      const std::string text = explain_operator(g, i, std::nullopt, std::nullopt);
      says(text, g.operators[i].name);
      says(text, "bytes of one execution");
      EXPECT_EQ(text.find("nan"), std::string::npos) << text;
    }
  }
}

TEST(Explain, digits_are_grouped_in_threes) {
  const std::pair<double, const char*> rows[] = {{0, "0"},
                                                 {999, "999"},
                                                 {1000, "1,000"},
                                                 {-1234567.4, "-1,234,567"},
                                                 {446535841087488, "446,535,841,087,488"}};
  for (const auto& [value, text] : rows) EXPECT_EQ(grouped_digits(value), text);
}

}  // namespace
}  // namespace halmark::model_test
