// The planner on figures that are made up: what it chooses is the fastest there is, and nothing
// becomes slower by having more.
#include "core/numeric/cast.hpp"
#include "simulate/sharding/planner.hpp"

#include <chrono>

#include "../../model/fixtures.hpp"
#include "simulate/sharding/layer_groups.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

using model_test::bf16;
using model_test::shipped;

struct Rates {
  double flops_per_s = 400e12, bytes_per_s = 2e12, link_bytes_per_s = 100e9, latency_ns = 5e3;
};

OperatorTime time_by(const Rates& r) {
  return [r](const Operator& op) -> std::optional<double> {
    if (op.kind == OperatorKind::collective) {
      return r.latency_ns + op.local_work.transfer_bytes / r.link_bytes_per_s * 1e9;
    }
    const double compute = op.rank_work.flops() / r.flops_per_s;
    return std::max(compute, op.rank_work.bytes() / r.bytes_per_s) * 1e9;
  };
}

PlanQuestion question(const ModelSpec& spec, std::int64_t shards, std::int64_t batch,
                      Phase phase = Phase::decode) {
  const std::int64_t tokens = phase == Phase::decode ? 1 : 1024;
  return {
      .base = {.model = spec.id,
               .parallel = {},
               .precision = bf16(),
               .workload = {.phase = phase, .batch = batch, .new_tokens = tokens, .context = 1024}},
      .shards = shards};
}

const Parallel two_stages{.dp = 1, .tp = 1, .pp = 2, .ep = 1, .cp = 1};

TEST(Planner, plans_one_shard_as_the_model_alone) {
  const ModelSpec spec = shipped("qwen3-0.6b");
  const ShardPlan plan = plan_shards(spec, question(spec, 1, 4), time_by({}));
  ASSERT_EQ(plan.layouts.size(), 1u);
  EXPECT_EQ(plan.chosen()->configuration.parallel, Parallel{});
  EXPECT_EQ(plan.chosen()->cost.step.communication_ns, 0);
  EXPECT_FALSE(plan.grouped);
}

TEST(Planner, chooses_no_slower_layout_than_any_other) {
  const ModelSpec spec = shipped("qwen3-30b-a3b");
  const OperatorTime time = time_by({});
  const ShardPlan plan = plan_shards(spec, question(spec, 8, 16), time);
  ASSERT_NE(plan.chosen(), nullptr);
  std::size_t built = 0;
  for (Parallel parallel :
       layouts_of(8, {.dp = 0, .tp = 0, .pp = 0, .ep = 0, .cp = 0}, true, false)) {
    Configuration c = question(spec, 8, 16).base;
    c.parallel = parallel;
    const auto graph = build_graph(spec, c);
    if (!graph) continue;
    ++built;
    EXPECT_LE(plan.chosen()->cost.ns(), step_cost(*graph, time).ns() * (1 + 1e-12))
        << parallel.text();
  }
  EXPECT_GT(built, 10u);
  std::size_t refused = 0;
  for (const auto& [reason, count] : plan.refused) refused += count;
  EXPECT_EQ(plan.tried, built + refused) << "every layout is built or refused for a reason";
}

TEST(Planner, cuts_a_pipeline_so_that_the_stage_with_the_head_has_fewer_layers) {
  // 28 layers of 15.7 M parameters, and a head of 155.6 M: a quarter of the model.
  const ModelSpec spec = shipped("qwen3-0.6b");
  PlanQuestion q = question(spec, 2, 2);
  q.stated = two_stages;
  const ShardPlan plan = plan_shards(spec, q, time_by({}));
  const std::vector<int> stages = plan.chosen()->configuration.parallel.stages;
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0] + stages[1], 28);
  EXPECT_GT(stages[0], stages[1] + 4);
  const std::vector<double>& ns = plan.chosen()->cost.stage_ns;
  EXPECT_LT(std::abs(ns[0] - ns[1]) / ns[0], 0.1);
  // Two micro-batches: the first stage alone, both, the last alone.
  EXPECT_DOUBLE_EQ(plan.chosen()->cost.alone_ns, ns[0] + std::max(ns[0], ns[1]) + ns[1]);
  EXPECT_DOUBLE_EQ(plan.chosen()->cost.ns(), 2 * std::max(ns[0], ns[1]));
}

TEST(Planner, gives_a_slower_device_fewer_layers) {
  const ModelSpec spec = shipped("llama-3.1-8b");
  PlanQuestion q = question(spec, 2, 2);
  q.stated = two_stages;
  q.stage_devices = {{.time = time_by({.bytes_per_s = 3e12})},
                     {.time = time_by({.bytes_per_s = 1e12})}};
  const ShardPlan plan = plan_shards(spec, q, time_by({}));
  const std::vector<int> stages = plan.chosen()->configuration.parallel.stages;
  ASSERT_EQ(stages.size(), 2u);
  // Every cut, priced by sums of its own: none has a faster slowest stage.
  for (int first = 1; first < 32; ++first) {
    Configuration c = q.base;
    c.parallel = {.pp = 2, .stages = {first, 32 - first}};
    const auto graph = build_graph(spec, c);
    ASSERT_TRUE(graph);
    double slowest = 0;
    for (std::size_t s = 0; s < 2; ++s) {
      double ns = 0;
      for (const Operator& op : graph->operators) {
        ns += as_double(op.stage_counts[s]) * *q.stage_devices[s].time(op);
      }
      slowest = std::max(slowest, ns);
    }
    EXPECT_LE(plan.chosen()->cost.ns(), 2 * slowest * (1 + 1e-12)) << first;
  }
  EXPECT_GT(stages[0], 2 * stages[1]);
}

TEST(Planner, a_training_step_is_three_forward_passes_and_one_exchange_of_gradients) {
  const ModelSpec spec = shipped("llama-2-7b");
  PlanQuestion q = question(spec, 1, 4, Phase::training);
  q.training = TrainingPlan{};
  // Products alone take time: the backward pass of each is two of its size.
  const OperatorTime products = [](const Operator& op) -> std::optional<double> {
    if (op.kind == OperatorKind::collective) return op.local_work.message_bytes;
    return op.rank_work.matmul_flops / 1e3;
  };
  const ShardPlan one = plan_shards(spec, q, products);
  const auto graph = build_graph(spec, one.chosen()->configuration);
  ASSERT_TRUE(graph);
  EXPECT_NEAR(one.chosen()->cost.ns(), 3 * graph->totals.matmul_flops / 1e3,
              3 * graph->totals.matmul_flops / 1e3 * 1e-9);
  q.shards = 2;
  q.stated = {.dp = 2, .tp = 1, .pp = 1, .ep = 1, .cp = 1};
  const ShardPlan two = plan_shards(spec, q, products);
  // Half of the batch on each, and a message of all gradients in bf16.
  EXPECT_DOUBLE_EQ(two.chosen()->cost.step.compute_ns, one.chosen()->cost.ns() / 2);
  EXPECT_DOUBLE_EQ(two.chosen()->cost.step.communication_ns,
                   2.0 * as_double(graph->totals.parameters));
  // 1F1B of four micro-batches over two stages: five of the slower stage's turns at most.
  q.stated = two_stages;
  q.base.workload.micro_batch = 1;
  const ShardPlan pipeline = plan_shards(spec, q, products);
  const std::vector<double>& ns = pipeline.chosen()->cost.stage_ns;
  EXPECT_NEAR(pipeline.chosen()->cost.ns(), ns[0] + ns[1] + 3 * std::max(ns[0], ns[1]),
              ns[0] * 1e-9 + pipeline.chosen()->cost.step.communication_ns);
}

TEST(Planner, takes_stages_that_are_stated) {
  const ModelSpec spec = shipped("qwen3-0.6b");
  PlanQuestion q = question(spec, 2, 2);
  q.stated = {.dp = 0, .tp = 0, .pp = 2, .ep = 0, .cp = 0, .stages = {10, 18}};
  const ShardPlan plan = plan_shards(spec, q, time_by({}));
  ASSERT_EQ(plan.layouts.size(), 1u);
  EXPECT_EQ(plan.chosen()->configuration.parallel.stages, (std::vector<int>{10, 18}));
}

TEST(Planner, more_bandwidth_or_memory_is_never_slower) {
  const ModelSpec spec = shipped("qwen3-30b-a3b");
  const auto chosen = [&](const Rates& rates, std::int64_t bytes) -> std::optional<double> {
    PlanQuestion q = question(spec, 4, 16);
    q.bytes_max = bytes;
    const ShardPlan plan = plan_shards(spec, q, time_by(rates));
    if (plan.grouped)
      return std::min(plan.grouped->ns, plan.chosen()->fits ? plan.chosen()->cost.ns() : 1e300);
    if (!plan.chosen() || !plan.chosen()->fits) return std::nullopt;
    return plan.chosen()->cost.ns();
  };
  std::optional<double> before;
  for (const double gib : {10.0, 16.0, 18.0, 20.0, 24.0, 32.0, 48.0, 64.0, 80.0}) {
    const auto ns = chosen({}, static_cast<std::int64_t>(gib * 1073741824.0));
    if (before) {
      ASSERT_TRUE(ns) << gib;
      EXPECT_LE(*ns, *before * (1 + 1e-12)) << gib;
    }
    before = ns ? ns : before;
  }
  ASSERT_TRUE(before);
  const double slow = *chosen({}, std::int64_t{1} << 37);
  EXPECT_LE(*chosen({.link_bytes_per_s = 400e9}, std::int64_t{1} << 37), slow);
  EXPECT_LE(*chosen({.bytes_per_s = 4e12}, std::int64_t{1} << 37), slow);
  EXPECT_LE(*chosen({.latency_ns = 1e3}, std::int64_t{1} << 37), slow);
}

TEST(Planner, groups_of_layers_fit_where_no_single_strategy_is_as_fast) {
  // Copies of all layers on both shards are fastest and too large; a group of layers is split.
  const ModelSpec spec = shipped("llama-3.1-8b");
  PlanQuestion q = question(spec, 2, 2);
  q.stated.pp = 1;
  const Rates slow_links{.link_bytes_per_s = 1e9, .latency_ns = 2e6};
  q.groups_layers = false;
  const ShardPlan free = plan_shards(spec, q, time_by(slow_links));
  ASSERT_EQ(free.chosen()->configuration.parallel.dp, 2);
  q.groups_layers = true;
  q.bytes_max = free.chosen()->largest.total() * 3 / 4;
  const ShardPlan plan = plan_shards(spec, q, time_by(slow_links));
  ASSERT_TRUE(plan.grouped);
  EXPECT_EQ(plan.chosen()->configuration.parallel.tp, 2);
  EXPECT_LT(plan.grouped->ns, plan.chosen()->cost.ns());
  EXPECT_LE(plan.grouped->bytes, *q.bytes_max);
  int layers = 0;
  for (const LayerGroup& group : plan.grouped->configuration.groups) {
    layers += group.layers;
    EXPECT_EQ(group.dp * group.tp * group.cp, 2);
  }
  EXPECT_EQ(layers, 32);
  // It has a price, and no graph: what executes has one strategy for all layers.
  const auto graph = build_graph(spec, plan.grouped->configuration);
  ASSERT_NE(graph.why(), nullptr);
  EXPECT_EQ(graph.why()->reason, "layer_groups_not_executable");
}

TEST(Planner, says_when_its_choice_was_slower_than_what_was_measured) {
  const ModelSpec spec = shipped("qwen3-0.6b");
  PlanQuestion q = question(spec, 2, 2);
  const ShardPlan first = plan_shards(spec, q, time_by({}));
  ASSERT_GE(first.layouts.size(), 2u);
  EXPECT_FALSE(first.slower_than_winner());
  const PlannedLayout& chosen = first.layouts[0];
  const PlannedLayout& other = first.layouts[1];
  q.measured_ns = {{chosen.configuration.key(), 2e6}, {other.configuration.key(), 1e6}};
  const ShardPlan plan = plan_shards(spec, q, time_by({}));
  ASSERT_TRUE(plan.winner);
  EXPECT_EQ(plan.winner->first, other.configuration.key());
  EXPECT_DOUBLE_EQ(*plan.slower_than_winner(), 1.0);
  ASSERT_TRUE(plan.overruled);
  EXPECT_EQ(plan.overruled->configuration.key(), chosen.configuration.key());
  EXPECT_EQ(plan.chosen()->configuration.key(), other.configuration.key());
  // One that the planner would not cut like that is looked at because it was measured.
  Configuration odd = q.base;
  odd.parallel = {.pp = 2, .stages = {2, 26}};
  q.measured_ns = {{chosen.configuration.key(), 2e6}, {odd.key(), 1e6}};
  q.measured_cuts = {odd.parallel};
  EXPECT_EQ(plan_shards(spec, q, time_by({})).chosen()->configuration.key(), odd.key());
  // A choice that was not measured stands, and is said to be slower where it is.
  q.measured_ns = {{other.configuration.key(), 1}};
  const ShardPlan kept = plan_shards(spec, q, time_by({}));
  EXPECT_FALSE(kept.overruled);
  EXPECT_EQ(kept.chosen()->configuration.key(), chosen.configuration.key());
  EXPECT_GT(*kept.slower_than_winner(), 0);
}

TEST(Planner, plans_126_layers_on_1024_shards_in_seconds) {
  const ModelSpec spec = shipped("llama-3.1-405b");
  ASSERT_EQ(spec.layers, 126);
  for (const std::int64_t shards : {64, 1024}) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_NE(plan_shards(spec, question(spec, shards, 1024), time_by({})).chosen(), nullptr);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    EXPECT_LT(took.count(), 30) << "seconds, on whatever machine and build";
  }
}

}  // namespace
}  // namespace halmark::simulate
