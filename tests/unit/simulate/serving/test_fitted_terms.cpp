// The terms of engines that are shipped, and the settings that a fit of them takes.
#include "simulate/serving/fitted_terms.hpp"

#include "toy_steps.hpp"

namespace halmark::serving {
namespace {

TEST(FittedTerms, of_a_model_go_before_those_of_its_engine) {
  EXPECT_EQ(fitted_terms("vllm", "gpt-oss-120b", "h200").model, "gpt-oss-120b");
  EXPECT_EQ(fitted_terms("trtllm", "qwen3-32b", "h100-sxm").engine, "trtllm");
  EXPECT_EQ(fitted_terms("sglang", "qwen3-32b", "h100-sxm").engine, "sglang");
  EXPECT_EQ(fitted_terms("vllm", "mixtral-8x7b", "h200").model, "") << "no rows of it";
  EXPECT_EQ(halmark::test::error_of([] { fitted_terms("vlm", "qwen3-32b", "h200"); }).line(),
            "--engine: no terms of an engine 'vlm'; did you mean 'vllm'?");
}

TEST(FittedTerms, name_what_they_rest_on) {
  says(source_text(fitted_terms("vllm", "qwen3-32b", "h100-sxm")),
       "terms of vllm with qwen3-32b, fitted on 46 rows on h100-sxm of the 2,597 published");
  says(source_text(fitted_terms("trtllm", "another", "h200")), "terms of trtllm, all models, ");
  says(source_text(fitted_terms("trtllm", "another", "l40s")), ", none of them of this device;");
}

// A model on a device of its own rows, on another, and one without rows: each rests on less.
TEST(FittedTerms, of_a_device_go_before_those_of_all_devices_of_the_model) {
  says(source_text(fitted_terms("vllm", "minimax-m2", "h200")), " rows on h200 of the ");
  says(source_text(fitted_terms("vllm", "minimax-m2", "b300")), " rows on b300 of the ");
  says(source_text(fitted_terms("vllm", "minimax-m2", "gb300")),
       " rows on b200, b300, h100-sxm, h200 of the ");
  EXPECT_TRUE(fitted_terms("trtllm", "mixtral-8x7b", "h200").series.chunks_prompts);
  EXPECT_FALSE(fitted_terms("trtllm", "qwen3-32b", "h100-sxm").series.chunks_prompts);
}

double width(const Ratios& r) { return std::log(r.high / r.low); }

// Tokens of DeepSeek-V3 under 1.2.0rc6.post3 came in half to nine tenths of the time that others of
// TensorRT-LLM 1.2 took: they were speculated.
TEST(FittedTerms, of_a_release_go_before_those_of_all_where_the_model_has_some) {
  const auto of = [](std::string_view device, std::string_view release) {
    return fitted_terms("trtllm", "deepseek-v3", device, release);
  };
  const FittedTerms all = of("b200", {}), before = of("b200", "1.2.0rc6.post2"),
                    after = of("b200", "1.2.0rc6.post3");
  EXPECT_EQ(all.release, "");
  says(source_text(after),
       "terms of trtllm 1.2.0rc6.post3 with deepseek-v3, fitted on 45 rows on b200 of ");
  EXPECT_LT(after.series.terms.device_scale, 0.85 * before.series.terms.device_scale);
  EXPECT_LT(width(before.tpot), width(all.tpot));
  for (const FittedTerms& none : {of("b200", "0.0.1"), of("h200", "1.2.0rc6.post3")}) {
    EXPECT_EQ(none.release, "") << "no rows of it";
  }
  EXPECT_EQ(of("b200", "0.0.1").tpot.high, all.tpot.high);
}

// The less was fitted on what is asked, the wider.
TEST(FittedTerms, know_a_model_on_its_device_best) {
  for (const std::string& engine : fitted_engines()) {
    SCOPED_TRACE(engine);
    const FittedTerms known = fitted_terms(engine, "qwen3-32b", "h100-sxm"),
                      moved = fitted_terms(engine, "qwen3-32b", "h200"),
                      unknown = fitted_terms(engine, "another", "h200"),
                      elsewhere = fitted_terms(engine, "another", "l40s");
    EXPECT_TRUE(unknown.is_of_device);
    EXPECT_FALSE(elsewhere.is_of_device);
    for (const auto ratios : {&FittedTerms::ttft, &FittedTerms::tpot}) {
      EXPECT_LT((known.*ratios).low, 1);
      EXPECT_GT((known.*ratios).high, 1);
      EXPECT_LE(width(known.*ratios), width(moved.*ratios));
      EXPECT_LE(width(unknown.*ratios), width(moved.*ratios));
      EXPECT_LE(width(unknown.*ratios), width(elsewhere.*ratios));
    }
    // A launch in a captured graph; kernels are as fast as alone within their spread.
    EXPECT_LT(known.launch_ns, 5e3);
    EXPECT_GT(known.series.terms.device_scale, 0.6);
    EXPECT_LT(known.series.terms.device_scale, 1.3);
  }
}

// Who waits for room waits for others' answers: 36 published rows lie between a 28th and nine
// times.
TEST(FittedTerms, of_a_full_cache_hold_less) {
  const FittedTerms fits = fitted_terms("vllm", "llama-3.1-70b", "h100-sxm"),
                    full = of_full_cache(fits);
  EXPECT_FALSE(fits.is_full);
  EXPECT_LT(full.ttft.low, 0.1);
  EXPECT_GT(full.ttft.high, 5);
  EXPECT_LE(full.tpot.low, fits.tpot.low);
  EXPECT_GE(full.tpot.high, fits.tpot.high);
  says(source_text(full), "in 90 % of cases, requests waiting for room in the cache: TTFT 0.0");
}

TEST(FittedTerms, of_disaggregated_servers_have_a_longer_way_and_ratios_of_their_own) {
  const FittedTerms one = fitted_terms("vllm", "kimi-k2.5", "gb200"), apart = of_disaggregated(one);
  EXPECT_GT(apart.series.terms.arrival_ns, one.series.terms.arrival_ns + 1e8)
      << "published: 250 to 500 ms to the first token at four clients";
  EXPECT_GT(apart.ttft.high, one.ttft.high);
  says(source_text(apart), "of servers whose prompts have workers of their own");
}

TEST(RequestsHeld, are_those_whose_prompt_and_half_output_fit) {
  EnginePlan plan;
  plan.blocks = 80;
  EXPECT_EQ(requests_held(plan, {103, 50}), 10) << "128 tokens are 8 blocks";
  EXPECT_EQ(requests_held(plan, {104, 50}), 8) << "129 tokens are 9";
  plan.reserves_output = true;
  EXPECT_EQ(requests_held(plan, {104, 50}), 8) << "154 tokens are 10 blocks";
  plan.requests_max = 3;
  EXPECT_EQ(requests_held(plan, {104, 50}), 3);
  plan.requests_max = 9;
  EXPECT_EQ(requests_held(plan, {104, 50}), 8);
  plan.blocks = 5;
  EXPECT_EQ(requests_held(plan, {104, 50}), 1) << "one at least";
}

// Steps of 1 ms, prompts of 100 tokens, three tokens out, one client at a time in the batch: TTFT
// of the first wave 1 and 4 ms, of every later request 4 ms.
BenchmarkFigures two_clients(double waves) {
  const test::ConstantSteps times;
  MixClock clock(times);
  EnginePlan plan = test::plan_of(100).engine;
  plan.requests_max = 1;
  return simulate_benchmark(plan, {100, 3}, 2, waves, clock);
}

TEST(Benchmark, is_the_first_wave_and_the_later_ones_by_their_number) {
  EXPECT_NEAR(two_clients(1).ttft_ns, 2.5e6, 1e-3);
  EXPECT_NEAR(two_clients(5).ttft_ns, 0.2 * 2.5e6 + 0.8 * 4e6, 1e-3);
  EXPECT_NEAR(two_clients(0.5).ttft_ns, 2.5e6, 1e-3) << "no less than one wave";
  EXPECT_NEAR(two_clients(5).tpot_ns, 1e6, 1e-3);
  const test::ConstantSteps times;
  MixClock clock(times);
  EXPECT_EQ(simulate_benchmark(test::plan_of(100).engine, {100, 1}, 2, 3, clock).tpot_ns, 0);
}

ServedPoint point_of(StepClock& clock) {
  ServedPoint out{.request = {100, 3}, .clients = 1};
  out.plan = test::plan_of(1'000).engine;
  out.clock = &clock;
  return out;
}

SeriesTerms series() {
  SeriesTerms out;
  out.terms = {.step_ns = 5e3, .token_ns = 3e4, .arrival_ns = 7e4};
  return out;
}

TEST(TermsFit, predicts_with_the_terms_and_the_scheduler_of_the_series) {
  const test::ConstantSteps times;
  MixClock clock(times);
  ServedPoint point = point_of(clock);
  SeriesTerms terms = series();
  // A hundred tokens of the prompt cost the host 3 ms beside the step of 1 ms.
  EXPECT_NEAR(predicted(point, terms).ttft_ns, 7e4 + 1e6 + 3e6 + 5e3, 1e-3);
  EXPECT_NEAR(predicted(point, terms).tpot_ns, 1e6 + 5e3, 1e-3);
  terms.chunks_prompts = true;
  terms.token_budget = 50;
  EXPECT_NEAR(predicted(point, terms).ttft_ns, 7e4 + 2 * (1e6 + 1.5e6 + 5e3), 1e-3) << "two pieces";
  terms.chunks_prompts = false;
  EXPECT_NEAR(predicted(point, terms).ttft_ns, 7e4 + 1e6 + 3e6 + 5e3, 1e-3) << "whole";
}

TEST(TermsFit, loss_is_the_mean_error_of_both_times_within_limits) {
  const test::ConstantSteps times;
  MixClock clock(times);
  ServedPoint near = point_of(clock), far = point_of(clock);
  const BenchmarkFigures f = predicted(near, series());
  near.ttft_ns = f.ttft_ns * std::exp(0.1);
  near.tpot_ns = f.tpot_ns * std::exp(-0.2);
  far.ttft_ns = f.ttft_ns * std::exp(-3.0);
  far.tpot_ns = f.tpot_ns * std::exp(0.7);
  const ServedPoint* const both[] = {&near, &far};
  EXPECT_NEAR(fit_loss(std::span(both, 1), series()), 0.1 + 2 * 0.2, 1e-9);
  EXPECT_NEAR(fit_loss(both, series()), (0.5 + 1 + 2 * 0.5) / 2, 1e-9) << "1 and 0.5 at most";
}

// What the bounds predict was measured: nothing is better than where the search begins.
SeriesTerms kept_at(const EngineTerms& terms, SeriesTerms start) {
  const test::ConstantSteps times;
  MixClock clock(times);
  ServedPoint point = point_of(clock);
  SeriesTerms bound = start;
  bound.terms = terms;
  const BenchmarkFigures f = predicted(point, bound);
  point.ttft_ns = f.ttft_ns;
  point.tpot_ns = f.tpot_ns;
  const ServedPoint* const points[] = {&point};
  return fitted_from(start, points, 1);
}

TEST(TermsFit, begins_within_the_bounds_of_each_term) {
  const EngineTerms highest{1.3, 4e6, 8e4, 2e4, 4e8}, lowest{0.6, 0, 0, 0, 0};
  SeriesTerms above;
  above.terms = {9, 1e9, 1e9, 1e9, 1e12};
  above.waves = 99;
  above.token_budget = 4096;
  const SeriesTerms high = kept_at(highest, above);
  EXPECT_EQ(high.terms, highest);
  EXPECT_EQ(high.waves, 99) << "settings stay";
  EXPECT_EQ(high.token_budget, 4096);
  SeriesTerms below;
  below.terms = {0.1, -1, -1, -1, -1};
  below.waves = 1;
  const SeriesTerms low = kept_at(lowest, below);
  EXPECT_EQ(low.terms, lowest);
}

TEST(TermsFit, comes_nearer_to_what_was_measured) {
  const test::ConstantSteps times;
  MixClock clock(times);
  ServedPoint point = point_of(clock);
  point.ttft_ns = 2.2e6;
  point.tpot_ns = 1.2e6;
  const ServedPoint* const points[] = {&point};
  SeriesTerms start;
  start.terms.arrival_ns = 4e6;
  EXPECT_GT(fit_loss(points, start), 1);
  EXPECT_LT(fit_loss(points, fitted_from(start, points, 300)), 0.1);
}

}  // namespace
}  // namespace halmark::serving
