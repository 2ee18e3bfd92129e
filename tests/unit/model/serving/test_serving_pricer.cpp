// Served deployments against the Composer's own operators, and their other figures by hand.
#include "model/serving/serving_pricer.hpp"

#include "fixtures.hpp"
#include "model/pricing/composer.hpp"
#include "roofline/estimate.hpp"

namespace halmark {
namespace {

using namespace model_test;

const Device& device() {
  static const Device one = [] {
    Device out = device_of(1e15, 4e12);
    out.links = {{.name = "link", .bytes_per_s = 4.5e11, .domain_devices = 8}};
    return out;
  }();
  return one;
}

KernelTime time_of(const Problem& problem, const Work& work) {
  static const RooflineRates roofline(device(), {});
  const double ns = roofline.ns(work, problem.params.value_or("ranks", 1)).value();
  return {ns, 0.9 * ns, 1.2 * ns, ns, true};
}

Latency latency_of(const KernelCase& kernel_case) {
  const Problem problem = complete_problem(kernel_case.problem);
  const KernelTime t = time_of(problem, find_contract(problem.op)->work(problem.params));
  return {.ns = t.ns, .low_ns = t.low_ns, .high_ns = t.high_ns, .lower_bound_ns = t.ns};
}

struct Priced {
  explicit Priced(const std::string& model, RequestShape shape = {700, 100},
                  ServingFacts given = {})
      : spec(shipped(model)),
        steps(
            spec, [](const Operator& op) { return time_of(op.local, op.local_work); }, nullptr, 0),
        request(shape),
        facts(given) {
    if (facts.memory_bytes == 0) facts.memory_bytes = 1ll << 45;
    facts.peaks = &device();
    facts.has_interval = true;
  }
  Configuration served(const Parallel& parallel, std::int64_t concurrency,
                       std::int64_t budget) const {
    return {.model = spec.id,
            .parallel = parallel,
            .precision = bf16(),
            .workload = {},
            .served =
                ServedLoad{.request = request, .concurrency = concurrency, .token_budget = budget}};
  }
  ServingPricer::Answer answer(const Configuration& configuration) {
    return ServingPricer(spec, steps, request, facts).estimate(configuration);
  }
  ServedEstimate estimate(const Configuration& configuration) {
    const auto out = answer(configuration);
    const auto* refusal = out.why();
    if (refusal != nullptr) throw std::runtime_error(refusal->text);
    return *out;
  }
  ModelSpec spec;
  StepPricer steps;
  RequestShape request;
  ServingFacts facts;
};

Estimate composed(const ModelSpec& spec, const Configuration& d) {
  return Composer(graph_of(spec, d), {.backend = "gpu"}, {}).compose(latency_of).estimate.value();
}

TEST(LayoutTimes, pure_steps_are_those_of_the_composer) {
  for (const char* model :
       {"qwen3-0.6b", "qwen3-30b-a3b", "deepseek-v3", "qwen3-next-80b-a3b", "gemma-3-4b"}) {
    Priced p(model);
    for (const Parallel& parallel :
         std::vector<Parallel>{{}, {.tp = 4}, {.tp = 2, .pp = 3}, {.dp = 2, .tp = 2}}) {
      const auto layout = p.steps.layout(parallel, bf16());
      ASSERT_FALSE(p.steps.refusal(layout).has_value()) << model;
      const LayoutTimes times(p.steps, layout, 750, &KernelTime::ns);
      const std::int64_t parts = parallel.dp * parallel.pp;
      const Configuration decode{p.spec.id, parallel, bf16(), {Phase::decode, 9 * parts, 1, 750}};
      EXPECT_NEAR(times.step_ns({0, 0, 0, 9}).value() / composed(p.spec, decode).step_ns, 1, 1e-12)
          << model << ' ' << parallel.text();
      const Configuration prefill{p.spec.id, parallel, bf16(), {Phase::prefill, parts, 300, 500}};
      EXPECT_NEAR(times.step_ns({1, 300, 200, 0}).value() / composed(p.spec, prefill).step_ns, 1,
                  1e-12)
          << model << ' ' << parallel.text();
    }
  }
}

// A mixed step by hand: linear layers see all tokens, attention is that of both kinds.
TEST(LayoutTimes, a_mixed_step_reads_the_weights_once) {
  Priced p("qwen3-0.6b");
  const auto layout = p.steps.layout({.tp = 2}, bf16());
  const LayoutTimes times(p.steps, layout, 750, &KernelTime::ns);
  const auto sum_of = [&](const Configuration& d, const auto& is_wanted) {
    double ns = 0;
    for (const OperatorShare& op : composed(p.spec, d).operators) {
      if (is_wanted(op)) ns += op.ns;
    }
    return ns;
  };
  const auto is_attention = [](const OperatorShare& op) { return op.name == "attention"; };
  const auto is_head = [](const OperatorShare& op) { return op.layer_type == "head"; };
  const auto is_linear = [&](const OperatorShare& op) { return !is_attention(op) && !is_head(op); };
  const auto decode = [&](std::int64_t batch) {
    return Configuration{p.spec.id, {.tp = 2}, bf16(), {Phase::decode, batch, 1, 750}};
  };
  const Configuration prefill{p.spec.id, {.tp = 2}, bf16(), {Phase::prefill, 1, 300, 500}};
  const double by_hand = sum_of(decode(308), is_linear) + sum_of(decode(8), is_attention) +
                         sum_of(prefill, is_attention) + sum_of(decode(9), is_head);
  const double mixed = times.step_ns({1, 300, 200, 8}).value();
  EXPECT_NEAR(mixed / by_hand, 1, 1e-12);
  const double alone = times.step_ns({1, 300, 200, 0}).value(),
               pure = times.step_ns({0, 0, 0, 8}).value();
  EXPECT_GT(mixed, std::max(alone, pure));
  EXPECT_LT(mixed, alone + pure);
}

TEST(ServingPricer, figures_follow_from_one_another) {
  Priced p("qwen3-0.6b", {700, 100},
           {.power_w = 700.0, .usd_per_device_hour = 2.0, .transfer_bytes_per_s = 1e10});
  const ServedEstimate e = p.estimate(p.served({.dp = 2, .tp = 2}, 16, 2048));
  const ServingFigures& f = e.figures;
  EXPECT_NEAR(f.requests_per_s * f.request_ns / 1e9, 16, 1e-9) << "Little's law";
  EXPECT_NEAR(f.tokens_per_s, 100 * f.requests_per_s, 1e-6);
  EXPECT_NEAR(f.tokens_per_s_per_device, f.tokens_per_s / 4, 1e-9);
  EXPECT_NEAR(*f.energy_j_per_token, 4 * 700 / f.tokens_per_s, 1e-12);
  EXPECT_NEAR(*f.usd_per_million_tokens, 4 * 2.0 / 3600 / f.tokens_per_s * 1e6, 1e-9);
  EXPECT_GT(*f.mfu, 0);
  EXPECT_LT(*f.mfu, 1) << "times are bounds, but nothing beats the peak";
  EXPECT_NEAR(e.fast.request_ns, 0.9 * f.request_ns, 1e-6 * f.request_ns);
  EXPECT_NEAR(e.slow.ttft_ns, 1.2 * f.ttft_ns, 1e-6 * f.ttft_ns);
  // Two replicas with half of the requests each are one with half of them, twice.
  const ServingFigures half = p.estimate(p.served({.tp = 2}, 8, 2048)).figures;
  EXPECT_NEAR(half.request_ns, f.request_ns, 1e-9 * f.request_ns);
  EXPECT_NEAR(2 * half.tokens_per_s, f.tokens_per_s, 1e-9 * f.tokens_per_s);
}

TEST(ServingPricer, utilisation_stays_below_one_over_many_shapes) {
  for (const RequestShape& shape : {RequestShape{1, 1}, {8000, 1}, {4000, 50}, {100, 2000}}) {
    Priced p("qwen3-30b-a3b", shape);
    for (const Parallel& parallel : std::vector<Parallel>{{}, {.tp = 4, .ep = 4}, {.pp = 4}}) {
      for (const std::int64_t concurrency : {4, 64, 1024}) {
        for (const std::int64_t budget : {512, 8192}) {
          const auto d = p.served(parallel, concurrency, budget);
          const ServingFigures f = p.estimate(d).figures;
          EXPECT_LE(*f.mfu, 1) << d.key();
          EXPECT_GT(f.tokens_per_s, 0) << d.key();
        }
      }
    }
  }
}

// Times are bounds here: an engine that makes less of them makes nothing of them.
TEST(ServingPricer, no_engine_is_faster_than_the_bound) {
  Priced p("qwen3-0.6b");
  p.facts.has_interval = false;
  const Configuration c = p.served({.tp = 2}, 1, 2048);
  // One client of an engine that costs nothing: what waits for others is none of this.
  const ServingFigures bound = p.estimate(c).figures;
  p.facts.engine = ServingEngine{
      .name = "vllm", .terms = {.device_scale = 0.8}, .ttft = {0.5, 2.0}, .tpot = {0.9, 1.25}};
  const ServedEstimate fast = p.estimate(c);
  EXPECT_NEAR(fast.figures.tpot_ns / bound.tpot_ns, 1, 1e-9);
  EXPECT_NEAR(fast.figures.ttft_ns / bound.ttft_ns, 1, 1e-9);
  EXPECT_NEAR(fast.fast.ttft_ns / bound.ttft_ns, 1, 1e-9) << "nor is the interval's end";
  EXPECT_NEAR(fast.slow.tpot_ns / bound.tpot_ns, 1.25, 1e-9);
  p.facts.engine->terms.device_scale = 1.5;
  EXPECT_NEAR(p.estimate(c).figures.tpot_ns / bound.tpot_ns, 1.5, 1e-9);
  p.facts.engine->terms.device_scale = 3;
  EXPECT_NEAR(p.estimate(c).fast.ttft_ns / bound.ttft_ns, 3 * 0.5 / 1.1, 1e-9)
      << "the interval is the engine's";
}

TEST(ServingPricer, a_cache_that_does_not_fit_says_by_how_much) {
  Priced p("qwen3-0.6b", {700, 100}, {.memory_bytes = 2'000'000'000});
  const auto refused = p.answer(p.served({}, 256, 2048));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure.reason, "out_of_memory");
  says(refused.failure.text, "short by");
  EXPECT_TRUE(p.answer(p.served({}, 1, 64)).value.has_value());
}

TEST(ServingPricer, replicas_and_stages_divide_the_requests) {
  Priced p("qwen3-0.6b");
  const auto refused = p.answer(p.served({.dp = 3}, 16, 2048));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure.text, "dp 3 x pp 1 does not divide concurrency 16");
}

TEST(ServingPricer, a_worker_for_prompts_leaves_the_tokens_undisturbed) {
  Priced p("qwen3-30b-a3b", {4000, 200}, {.transfer_bytes_per_s = 5e10});
  Configuration apart = p.served({.tp = 4}, 64, 8192);
  apart.served->mode = ServingMode::disaggregated;
  apart.served->prefill = {.tp = 4};
  apart.served->prefill_workers = 1;
  apart.served->decode_workers = 1;
  EXPECT_EQ(apart.devices(), 8);
  const ServingFigures two = p.estimate(apart).figures;
  const ServingFigures one = p.estimate(p.served({.tp = 4}, 64, 8192)).figures;
  EXPECT_LT(two.tpot_ns, one.tpot_ns);
  EXPECT_NEAR(two.requests_per_s * two.request_ns / 1e9, 64, 1e-6);
  EXPECT_LT(two.tokens_per_s, 2 * one.tokens_per_s * 1.5);
  apart.served->prefill.pp = 2;
  const auto refused = p.answer(apart);
  EXPECT_EQ(refused.failure.reason, "worker_layout");
}

}  // namespace
}  // namespace halmark
