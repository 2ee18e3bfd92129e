// Utilisation of a measured step: worked examples, and what an absent figure says.
#include "model/utilisation/utilisation.hpp"

#include "fixtures.hpp"

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

}  // namespace
}  // namespace halmark::model_test
