// Utilisation of a measured step: worked examples, and what an absent figure says.
// The formula of an operator with its numbers.

#include "fixtures.hpp"
#include "model/utilisation/explain.hpp"
#include "model/utilisation/utilisation.hpp"

namespace halmark::model_test {
namespace {

MeasuredStep step(double ms, const Device& d) {
  return {.ns = ms * 1e6, .device = d, .convention = model_convention(false, false)};
}

struct Worked {
  const char* model;
  Configuration configuration;
  double peak, ms;
  double flops, model_pct, executed_pct, precision;  // points
};

// Totals and percentages worked out by hand: tp 8 and ep 8, balanced experts, one peak for all.
TEST(Utilisation, of_worked_examples) {
  const Parallel eight{.tp = 8, .ep = 8};
  const std::vector<Worked> examples = {
      {"qwen3-235b-a22b", decode(1, 1, eight), 148e12, 15, 43'138'351'104.0, 0.2429, 0.2512, 6e-5},
      {"qwen3-235b-a22b", prefill(1, 8192, 8192, eight), 148e12, 900, 446'535'841'087'488.0, 41.90,
       43.04, 6e-3},
      {"deepseek-v3", prefill(1, 4096, 4096, eight), 1979e12, 200, 334'368'312'131'584.0, 10.56,
       12.43, 6e-3},
      {"deepseek-v4-flash", decode(1, 1, eight), 296e12, 20, 26'541'948'928.0, 0.05604, 0.07536,
       6e-6}};
  for (const Worked& example : examples) {
    MeasuredStep s = step(example.ms, device_of(example.peak, 4e12));
    s.convention.attention = AttentionRule::window;
    s.convention.peak = "bf16";
    const OperatorGraph g = graph_of(example.model, example.configuration);
    const StepUtilisation u = utilisation(g, s);
    EXPECT_EQ(u.convention_flops, example.flops) << example.model;
    ASSERT_TRUE(u.model) << u.reason;
    EXPECT_NEAR(100 * *u.model, example.model_pct, example.precision) << example.model;
    EXPECT_NEAR(100 * *u.executed, example.executed_pct, example.precision) << example.model;
    EXPECT_EQ(u.hfu, u.model);
    EXPECT_DOUBLE_EQ(*u.peak_flops_per_s, example.peak);
  }
}

TEST(Utilisation, recomputation_is_hfu_and_never_mfu) {
  const OperatorGraph g = graph_of("qwen3-0.6b", training(2, 256));
  MeasuredStep s = step(100, device_of(1e14, 1e12));
  s.convention = model_convention(true, false);
  s.training = TrainingPlan{};
  const StepUtilisation none = utilisation(g, s);
  s.training->recompute = Recompute::full;
  const StepUtilisation full = utilisation(g, s);
  EXPECT_EQ(none.hfu, none.model);
  EXPECT_EQ(full.model, none.model);
  const TrainingCost cost = training_cost(g, *s.training);
  EXPECT_DOUBLE_EQ(*full.hfu / *full.model, cost.hardware_flops() / cost.model_flops());
  EXPECT_DOUBLE_EQ(*none.model, cost.model_flops() / 1e14 / 0.1);
}

// A bf16 model with an f32 head: every product at its own peak, or all at a stated one.
TEST(Utilisation, the_peak_is_that_of_every_operator_unless_the_convention_names_one) {
  Device d = device_of(100e12, 1e12);
  d.peaks.push_back({.path = "f32_vector", .dtype = Dtype::f32, .flops_per_s = 10e12});
  OperatorGraph g = graph_of("qwen3-0.6b", decode(8, 512));
  for (Operator& op : g.operators) {
    if (op.kind == OperatorKind::head) op.dtype = Dtype::f32;
  }
  const double head = find_operator(g, "lm_head").matmul_flops;
  const double rest = g.totals.matmul_flops - head;
  MeasuredStep s = step(5, d);
  EXPECT_NEAR(*utilisation(g, s).model, (rest / 100e12 + head / 10e12) / 5e-3, 1e-12);
  s.convention.peak = "bf16";
  EXPECT_NEAR(*utilisation(g, s).model, (rest + head) / 100e12 / 5e-3, 1e-12);
}

TEST(Utilisation, roofline_is_the_sum_of_the_floors_of_one_rank) {
  const OperatorGraph g = graph_of("qwen3-0.6b", decode(1, 512));
  const Device d = device_of(1e15, 1e12);  // every operator waits for memory
  EXPECT_NEAR(*utilisation(g, step(5, d)).roofline, g.totals.bytes_per_rank / 1e12 / 5e-3, 1e-9);
}

TEST(Utilisation, an_absent_figure_has_a_reason) {
  const OperatorGraph g = graph_of(tiny(), decode(1, 8));
  MeasuredStep s = step(1, device_of(1e12, 1e12));
  s.device.reset();
  EXPECT_FALSE(utilisation(g, s).model);
  EXPECT_NE(utilisation(g, s).reason, "");
  EXPECT_NE(utilisation(g, s).roofline_reason, "");
  s = step(1, Device{.id = "bare"});
  EXPECT_EQ(utilisation(g, s).reason, "no peak for bf16 on bare");
  EXPECT_FALSE(utilisation(g, s).roofline);
}

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
