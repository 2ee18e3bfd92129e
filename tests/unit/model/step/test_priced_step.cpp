// A step with what is asked about it: figures against sums of the graph, and what refuses it.
#include "core/numeric/cast.hpp"
#include "model/step/priced_step.hpp"

#include "fixtures.hpp"
#include "model/step/step_json.hpp"

namespace halmark::model_test {
namespace {

Device device_of(double flops_per_s, std::int64_t memory_bytes) {
  Device out{.id = "d", .memory_bytes = memory_bytes};
  out.peaks = {{.path = "bf16", .dtype = Dtype::bf16, .flops_per_s = flops_per_s}};
  out.bandwidths = {{.level = "memory", .bytes_per_s = 1e9}};
  return out;
}

TEST(PricedStep, figures_of_operators_add_up_to_the_totals) {
  const PricedStep step = price_step(tiny(), training(4, 16), {}, {});
  double flops = 0, per_rank = 0;
  for (std::size_t i = 0; i < step.graph.operators.size(); ++i) {
    const OperatorFigures figures = operator_figures(step, i);
    flops += figures.flops;
    per_rank += figures.flops_per_rank;
    EXPECT_FALSE(figures.floor) << "no device is named";
  }
  EXPECT_NEAR(flops / step.totals().flops, 1, 1e-12);
  EXPECT_NEAR(per_rank / step.totals().flops_per_rank, 1, 1e-12);
  EXPECT_GT(step.totals().flops, 2 * step.graph.totals.flops) << "the backward pass";
}

TEST(PricedStep, recomputation_is_executed_but_is_no_model_work) {
  const PricedStep plain = price_step(tiny(), training(4, 16), {}, {});
  const PricedStep again = price_step(tiny(), training(4, 16), {},
                                      {.training = TrainingPlan{.recompute = Recompute::full}});
  EXPECT_DOUBLE_EQ(again.totals().matmul_flops, plain.totals().matmul_flops);
  EXPECT_GT(again.totals().matmul_flops_per_rank, plain.totals().matmul_flops_per_rank);
}

TEST(PricedStep, a_floor_needs_a_device_and_scales_with_its_peak) {
  const PricedStep step = price_step(tiny(), prefill(1, 64, 64), device_of(1e6, 0), {});
  for (std::size_t i = 0; i < step.graph.operators.size(); ++i) {
    const Operator& op = step.graph.operators[i];
    if (op.name != "q_proj") continue;
    const OperatorFigures figures = operator_figures(step, i);
    ASSERT_TRUE(figures.floor);
    EXPECT_GE(figures.floor->ns, op.rank_work.matmul_flops / 1e6 * 1e9);
    EXPECT_NEAR(*figures.lower_bound_us, figures.floor->ns * as_double(op.count) / 1e3, 1e-6);
  }
}

TEST(PricedStep, what_does_not_fit_says_by_how_much) {
  const PricedStep alone = price_step(tiny(), decode(1, 64), {}, {});
  EXPECT_FALSE(fit_of(alone));
  const std::int64_t needed = alone.memory_bytes();
  EXPECT_EQ(fit_of(price_step(tiny(), decode(1, 64), device_of(1, needed), {}))->short_by_bytes(),
            0);
  EXPECT_EQ(
      fit_of(price_step(tiny(), decode(1, 64), device_of(1, needed - 5), {}))->short_by_bytes(), 5);
  const PricedStep unknown = price_step(tiny(), decode(1, 64), device_of(1, 0), {});
  EXPECT_FALSE(fit_of(unknown)->device_bytes);
  EXPECT_TRUE(fit_json(unknown)["fit"]["fits"].is_null());
  EXPECT_EQ(fit_json(unknown)["fit"]["fits_reason"], "d does not state its memory");
}

TEST(PricedStep, drafts_and_verification_are_the_whole_step) {
  const Configuration c = {"m", {}, bf16(), {Phase::decode, 2, 1, 1024}};
  const PricedStep step = price_step(shipped("deepseek-v3"), c, {},
                                     {.drafted = 1, .acceptance = 0.5, .measured_ms = 100});
  const std::optional<SpeculationFigures> s = speculation_of(step);
  ASSERT_TRUE(s);
  EXPECT_GT(s->draft_flops, 0);
  EXPECT_DOUBLE_EQ(s->draft_flops + s->verify_flops, step.graph.totals.matmul_flops);
  EXPECT_DOUBLE_EQ(*s->tokens_per_step, 1.5);
  EXPECT_DOUBLE_EQ(*s->tokens_per_s, 2 * 1.5 / 0.1);
  EXPECT_DOUBLE_EQ(*s->tokens_per_s_none_accepted, 2 / 0.1);
  EXPECT_FALSE(speculation_of(price_step(shipped("deepseek-v3"), c, {}, {})));
}

// Of all ways in which drafts are accepted or not, one by one: those behind a rejected one are not.
TEST(PricedStep, accepted_over_drafted_is_what_engines_count) {
  for (const std::int64_t drafted : {1, 2, 3, 5}) {
    for (const double a : {0.0, 0.3, 0.8, 1.0}) {
      double accepted = 0;
      for (unsigned way = 0; way < 1u << drafted; ++way) {
        double probability = 1;
        std::int64_t prefix = 0;
        for (std::int64_t i = 0; i < drafted; ++i) {
          const bool is_right = (way >> i & 1) != 0;
          probability *= is_right ? a : 1 - a;
          prefix += is_right && prefix == i ? 1 : 0;
        }
        accepted += probability * as_double(prefix);
      }
      EXPECT_NEAR(accepted_over_drafted(drafted, a), accepted / as_double(drafted), 1e-12)
          << drafted << ' ' << a;
    }
  }
}

TEST(PricedStep, a_ring_moves_its_message_twice_less_the_own_part) {
  const PricedStep step = price_step(tiny(), training(4, 16, {.dp = 4}), {}, {});
  EXPECT_EQ(weight_copies(step), 4);
  const auto message = as_double(largest(step.training_stages).gradient_message_bytes);
  EXPECT_GT(message, 0);
  EXPECT_DOUBLE_EQ(gradient_ring_bytes(step), 2.0 * 3 / 4 * message);
}

// A named preset speaks of training; a served step is one forward pass.
TEST(PricedStep, a_preset_of_training_counts_one_pass_of_a_served_step) {
  const PricedStep served = price_step(tiny(), prefill(1, 64, 64), {}, {.convention = "palm"});
  const PricedStep trained = price_step(tiny(), training(1, 64), {}, {.convention = "palm"});
  EXPECT_EQ(served.convention.forward_backward, PassRule::forward);
  EXPECT_NE(trained.convention.forward_backward, PassRule::forward);
  EXPECT_EQ(test::error_of([] {
              price_step(tiny(), decode(1, 64), {}, {.convention = "nobody"});
            }).exit_code(),
            ExitCode::refused);
}

TEST(PricedStep, a_refusal_of_the_graph_ends_it) {
  const Error error = test::error_of([] { price_step(tiny(), decode(1, 1000), {}, {}); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_NE(std::string(error.what()).find("context_exceeds_model"), std::string::npos);
}

}  // namespace
}  // namespace halmark::model_test
