// The fast pricer against the Composer, on random deployments of models of every kind.
#include "core/numeric/cast.hpp"
#include "model/pricing/step_pricer.hpp"

#include "fixtures.hpp"
#include "model/pricing/composer.hpp"
#include "model/pricing/timed_step.hpp"

namespace halmark {
namespace {

using namespace model_test;

Device gpu() {
  Device out = device_of(1e15, 4e12);
  for (const auto& [dtype, flops] :
       {std::pair{Dtype::f8_e4m3fn, 2e15}, {Dtype::s8, 2e15}, {Dtype::f32, 5e14}}) {
    out.peaks.push_back(
        {.path = std::string(dtype_name(dtype)) + "_matrix", .dtype = dtype, .flops_per_s = flops});
  }
  out.links = {{.name = "link", .bytes_per_s = 4.5e11, .domain_devices = 8}};
  return out;
}

// Any time does as long as it is the problem's own.
KernelTime time_of(const Problem& problem) {
  const std::size_t hash = std::hash<std::string>{}(problem.text());
  const double ns = 1000 + as_double(hash % 1'000'000);
  return {ns, 0.9 * ns, 1.3 * ns, 0.5 * ns, true};
}

// Of a rank's own work too, which shares of routed rows are no whole number of.
KernelTime time_of(const Operator& op) {
  const KernelTime whole = time_of(op.local);
  const double ns =
      op.rank_work.matmul_flops + op.rank_work.bytes_read + op.rank_work.bytes_written;
  return {whole.ns + ns, whole.low_ns + ns, whole.high_ns + 2 * ns, whole.lower_bound_ns + ns,
          true};
}

Latency latency_of(const KernelCase& kernel_case) {
  const KernelTime t = time_of(kernel_case.problem);
  return {.ns = t.ns, .low_ns = t.low_ns, .high_ns = t.high_ns, .lower_bound_ns = t.lower_bound_ns};
}

StepPricer pricer_of(const ModelSpec& spec, const Device* device = nullptr) {
  return {spec, [](const Operator& op) { return time_of(op.local); }, device, 0};
}

template <class T>
T one_of(const std::vector<T>& values, std::mt19937_64& random) {
  return values[random() % values.size()];
}

// Half of the contexts are within one token of a length where the model changes its form.
Configuration random_deployment(const ModelSpec& spec, std::mt19937_64& random) {
  const std::vector<int> degrees = {1, 2, 4, 8};
  Configuration out{.model = spec.id};
  out.parallel = {.dp = one_of<int>({1, 2, 3, 4}, random),
                  .tp = one_of(degrees, random),
                  .pp = one_of<int>({1, 2, 3, 5}, random),
                  .ep = spec.moe ? one_of(degrees, random) : 1};
  if (out.parallel.pp > 1 && random() % 2 == 0) {  // one layer each, the rest where it falls
    out.parallel.stages.assign(as_size(out.parallel.pp), 1);
    for (std::int64_t rest = spec.layers - out.parallel.pp; rest > 0; --rest) {
      ++out.parallel.stages[random() % out.parallel.stages.size()];
    }
  }
  out.precision = one_of(precisions(spec), random);
  auto context = static_cast<std::int64_t>(1 + random() % 3000);
  if (random() % 2 == 0) {
    context = std::max<std::int64_t>(
        1, one_of(length_limits(spec), random) + static_cast<std::int64_t>(random() % 3) - 1);
  }
  const std::int64_t parts = out.parallel.dp * out.parallel.pp;
  out.workload = {.phase = Phase::decode,
                  .batch = parts * static_cast<std::int64_t>(1 + random() % 40),
                  .new_tokens = 1,
                  .context = context};
  if (random() % 2 == 0) {
    out.workload.phase = Phase::prefill;
    out.workload.new_tokens = static_cast<std::int64_t>(1 + random() % 600);
    out.workload.context += out.workload.new_tokens - (random() % 2 == 0 ? 1 : 0);
  }
  return out;
}

using Figure = double KernelTime::*;
constexpr Figure figures[] = {&KernelTime::ns, &KernelTime::low_ns, &KernelTime::high_ns,
                              &KernelTime::lower_bound_ns};

// A sum of its own over the operators of a graph that is built for the load.
double naive_step(const OperatorGraph& graph, Figure figure) {
  double out = 0;
  for (std::size_t stage = 0; stage < graph.stages.size(); ++stage) {
    double sum = 0;
    for (const Operator& op : graph.operators) {
      const auto pp = graph.configuration.parallel.pp;
      sum += as_double(op.stage_counts[stage] * pp) * (time_of(op).*figure);
    }
    out = std::max(out, sum);
  }
  return out;
}

double summed(const OperatorGraph& graph, const std::vector<double>& executions) {
  double out = 0;
  for (std::size_t i = 0; i < executions.size(); ++i) {
    out += executions[i] * time_of(graph.operators[i]).ns;
  }
  return out;
}

void expect_same(double a, double b, const std::string& what) {
  EXPECT_NEAR(a / b, 1, 1e-12) << what;
}

class StepPricing : public testing::TestWithParam<std::string> {};

TEST_P(StepPricing, is_the_sum_over_a_graph_that_is_built_for_the_load) {
  const ModelSpec spec = shipped(GetParam());
  StepPricer pricer(
      spec, [](const Operator& op) { return time_of(op); }, nullptr, 0);
  std::mt19937_64 random(5);
  std::size_t priced = 0;
  for (int i = 0; i < 40; ++i) {
    const Configuration d = random_deployment(spec, random);
    const auto layout = pricer.layout(d.parallel, d.precision);
    if (pricer.refusal(layout)) continue;
    const auto built = build_graph(spec, d);
    const auto* graph = built.get();
    if (graph == nullptr) {  // a limit of the context alone, which no layout knows
      ASSERT_EQ(built.failure.reason, "context_exceeds_model") << d.key();
      continue;
    }
    const auto fast = pricer.price(layout, d.workload.phase, d.workload.batch,
                                   d.workload.new_tokens, d.workload.context);
    ASSERT_TRUE(fast.has_value()) << d.key();
    const double found[] = {fast->step_ns, fast->low_ns, fast->high_ns, fast->lower_bound_ns};
    std::vector<KernelTime> times;
    for (const Operator& op : graph->operators) times.push_back(time_of(op));
    const TimedStep timed(*graph, std::move(times));
    for (std::size_t k = 0; k < 4; ++k) {
      expect_same(found[k], naive_step(*graph, figures[k]), d.key());
      expect_same(timed.stream().time.*figures[k], found[k], d.key());
    }
    expect_same(summed(*graph, timed.executions()), timed.stream().time.ns, d.key());
    ++priced;
  }
  EXPECT_GE(priced, 5u);
}

INSTANTIATE_TEST_SUITE_P(Shipped, StepPricing, testing::ValuesIn(shipped_ids()),
                         [](const auto& info) { return test_name(info.param); });

class ComposedPricing : public testing::TestWithParam<const char*> {};

TEST_P(ComposedPricing, agrees_with_the_composer_on_random_deployments) {
  const ModelSpec spec = shipped(GetParam());
  const Device device = gpu();
  StepPricer pricer = pricer_of(spec, &device);
  std::mt19937_64 random(11);
  std::set<Configuration> seen;
  std::size_t priced = 0;
  while (seen.size() < 150) {
    const Configuration d = random_deployment(spec, random);
    if (!seen.insert(d).second) continue;
    const auto layout = pricer.layout(d.parallel, d.precision);
    auto built = build_graph(spec, d);
    const bool is_possible = built.value.has_value();
    ASSERT_EQ(!pricer.refusal(layout), is_possible) << d.key();
    const auto fast = pricer.price(layout, d.workload.phase, d.workload.batch,
                                   d.workload.new_tokens, d.workload.context);
    ASSERT_EQ(fast.has_value(), is_possible) << d.key();
    if (!is_possible) continue;
    const Composer composer(*std::move(built), {.backend = "gpu"}, {.measured = device});
    const Evaluation whole = composer.compose(latency_of);
    ASSERT_TRUE(whole.estimate.has_value()) << whole.reason;
    expect_same(fast->step_ns, whole.estimate->step_ns, d.key());
    expect_same(fast->low_ns, whole.estimate->low_ns, d.key());
    expect_same(fast->high_ns, whole.estimate->high_ns, d.key());
    expect_same(fast->lower_bound_ns, whole.estimate->lower_bound_ns, d.key());
    expect_same(fast->tokens_per_s, whole.estimate->tokens_per_s, d.key());
    ASSERT_EQ(fast->mfu.has_value(), whole.estimate->mfu.has_value()) << d.key();
    if (fast->mfu) expect_same(*fast->mfu, *whole.estimate->mfu, d.key());
    ++priced;
  }
  EXPECT_GE(priced, 30u);
}

INSTANTIATE_TEST_SUITE_P(Models, ComposedPricing,
                         testing::Values("qwen3-0.6b", "gemma-3-4b", "qwen3-30b-a3b",
                                         "qwen3-235b-a22b", "deepseek-v3", "qwen3-next-80b-a3b",
                                         "gpt-oss-20b", "nemotron-3-nano-30b-a3b",
                                         "deepseek-v2-lite"),
                         [](const auto& info) { return test_name(info.param); });

TEST(StepPricer, variants_share_their_work) {
  const ModelSpec spec = shipped("qwen3-0.6b");
  StepPricer pricer = pricer_of(spec);
  std::size_t before = 0;
  for (const int dp : {1, 2, 4}) {
    for (const int pp : {1, 2, 4}) {
      const auto layout = pricer.layout({.dp = dp, .tp = 2, .pp = pp}, bf16());
      ASSERT_TRUE(pricer.price(layout, Phase::decode, 8 * dp * pp, 1, 100).has_value());
      if (before == 0) before = pricer.graphs_built();
    }
  }
  // Beyond the first: a cut for each length of a pipeline, and what it hands over.
  EXPECT_EQ(pricer.graphs_built(), before + 2 + 1);
}

TEST(StepPricer, memory_is_that_of_the_graph) {
  const ModelSpec spec = shipped("qwen3-30b-a3b");
  StepPricer pricer = pricer_of(spec);
  for (const Parallel& parallel :
       std::vector<Parallel>{{}, {.tp = 2}, {.dp = 2, .tp = 2, .pp = 3, .ep = 4}, {.pp = 5}}) {
    const Configuration d{
        spec.id, parallel, bf16(), {Phase::decode, 7 * parallel.dp * parallel.pp, 1, 300}};
    const MemoryUse use = memory_use(graph_of(spec, d));
    const auto layout = pricer.layout(parallel, d.precision);
    const auto stages = pricer.stages(layout);
    const auto memory = pricer.stage_memory(layout, 300);
    ASSERT_EQ(stages.size(), memory.size());
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const RankMemory& rank = use.stages[as_size(stages[s].first_stage)];
      EXPECT_EQ(memory[s].weight_bytes, rank.weight_bytes);
      EXPECT_EQ(memory[s].kv_bytes_per_sequence * 7 * parallel.pp, rank.kv_bytes);
    }
  }
}

}  // namespace
}  // namespace halmark
