// The step of a pipeline against schedules that know nothing of slots: micro-batches as events, and
// ranks that execute their stacks and wait for each other in every shift.
#include "core/numeric/cast.hpp"
#include "model/pricing/pipeline.hpp"

#include "fixtures.hpp"
#include "model/pricing/composer.hpp"

namespace halmark {
namespace {

using namespace model_test;

// A stage begins a micro-batch when it is done with the one before and the stage before is done
// with this one.
double makespan(const std::vector<double>& stage_ns, int micro_batches) {
  std::vector<double> free(stage_ns.size(), 0);
  for (int m = 0; m < micro_batches; ++m) {
    double here = 0;
    for (std::size_t s = 0; s < stage_ns.size(); ++s) {
      here = free[s] = std::max(free[s], here) + stage_ns[s];
    }
  }
  return free.back();
}

double by_slots(const std::vector<double>& stage_ns, int micro_batches) {
  const auto slots = pipeline_slots(std::ssize(stage_ns), micro_batches);
  return pipeline_time(slots,
                       [&](std::int64_t stage, std::int64_t) {
                         const double ns = stage_ns[as_size(stage)];
                         return KernelTime{
                             .ns = ns, .low_ns = ns / 2, .high_ns = 2 * ns, .is_known = true};
                       })
      .ns;
}

TEST(Pipeline, two_micro_batches_and_stages_take_three_slots) {
  EXPECT_THAT(pipeline_slots(2, 2),
              ElementsAre(PipelineSlot{0, 1}, PipelineSlot{0, 2}, PipelineSlot{1, 1}));
  EXPECT_THAT(pipeline_slots(1, 1), ElementsAre(PipelineSlot{0, 1}));
  EXPECT_THAT(pipeline_slots(1, 3),
              ElementsAre(PipelineSlot{0, 1}, PipelineSlot{0, 1}, PipelineSlot{0, 1}));
  EXPECT_THAT(pipeline_slots(3, 1),
              ElementsAre(PipelineSlot{0, 1}, PipelineSlot{1, 1}, PipelineSlot{2, 1}));
}

// Idle over ideal is (pp - 1) / m where stages are alike.
TEST(Pipeline, equal_stages_are_idle_as_the_formula_says) {
  for (const int pp : {1, 2, 4, 8}) {
    for (const int m : {1, 2, 8}) {
      const double ideal = m * 10.0;
      EXPECT_DOUBLE_EQ(by_slots(std::vector<double>(as_size(pp), 10), m),
                       ideal * (1 + as_double(pp - 1) / m));
    }
  }
}

TEST(Pipeline, slots_take_as_long_as_events_where_no_stage_stands_between_two_slower_ones) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> ns(1, 100);
  for (int i = 0; i < 200; ++i) {
    std::vector<double> stages;
    for (int s = 0; s < 1 + i % 6; ++s) stages.push_back(ns(random));
    const auto rise = stages.begin() + i % static_cast<int>(stages.size());
    std::sort(stages.begin(), rise);
    std::sort(rise, stages.end(), std::greater<>());
    const int micro_batches = 1 + i % 5;
    EXPECT_NEAR(by_slots(stages, micro_batches), makespan(stages, micro_batches), 1e-9);
  }
  EXPECT_GT(by_slots({5, 1, 5}, 3), makespan({5, 1, 5}, 3)) << "the shifts end slots together";
}

// An odd time for every kernel that depends on how many shards run it.
double ns_of(const KernelCase& k) {
  const auto hash = std::hash<std::string>()(k.problem.text());
  return 10 + as_double(hash % 97) * (1 + 0.3 * (k.shards_at_once - 1));
}

std::optional<Latency> timed(const KernelCase& k) {
  const double ns = ns_of(k);
  return Latency{.ns = ns, .low_ns = ns / 2, .high_ns = 3 * ns};
}

// Of the ranks of one replica: each executes its steps, and a shift ends when all have come.
double run(const std::vector<Stack>& stacks) {
  std::vector<double> clock(stacks.size(), 0);
  std::vector<std::size_t> next(stacks.size(), 0);
  for (;;) {
    double shift_ns = 0;
    for (std::size_t rank = 0; rank < stacks.size(); ++rank) {
      const auto& steps = stacks[rank].steps;
      while (next[rank] < steps.size()) {
        const auto& k = stacks[rank].kernels[as_size(steps[next[rank]].kernel)];
        ++next[rank];
        if (k.problem.op == "send_recv") {
          shift_ns = ns_of(k);
          break;
        }
        clock[rank] += ns_of(k);
      }
    }
    const double met = *std::ranges::max_element(clock) + shift_ns;
    std::ranges::fill(clock, met);
    if (next[0] == stacks[0].steps.size()) return met;
  }
}

StackPlacement placement(CacheMode mode) {
  return {.backend = "cpu", .ring_bytes = 1 << 20, .mode = mode};
}

constexpr CacheMode modes[] = {CacheMode::rotate_const, CacheMode::in_stack};

// Also with fewer sequences than stages, where the rest is idle.
TEST(PipelineStep, is_priced_as_its_stacks_run) {
  for (const CacheMode mode : modes) {
    for (const auto& [pp, batch] : {std::pair(2, 4), {3, 6}, {4, 8}, {2, 1}, {4, 1}, {4, 3}}) {
      const OperatorGraph graph = graph_of(tiny(), decode(batch, 8, {.pp = pp}));
      const Composer composer(graph, placement(mode), {});
      const Estimate estimate = composer.compose(timed).estimate.value();
      ASSERT_TRUE(estimate.alone);
      const std::vector<Stack> stacks = build_stacks(graph, placement(mode));
      EXPECT_NEAR(estimate.alone->ns, run(stacks), 1e-6) << pp;
      EXPECT_NEAR(estimate.alone->low_ns, estimate.alone->ns / 2, 1e-6);
      EXPECT_NEAR(estimate.alone->high_ns, estimate.alone->ns * 3, 1e-6);
    }
  }
}

TEST(PipelineStep, operators_take_what_the_slowest_stage_executes) {
  for (const CacheMode mode : modes) {
    const OperatorGraph graph = graph_of(tiny(), decode(2, 8, {.pp = 2}));
    const Composer composer(graph, placement(mode), {});
    const Estimate estimate = composer.compose(timed).estimate.value();
    const auto of_price = composer.operators_ns(timed, estimate);
    std::vector<std::map<std::string, double>> of_rank;
    for (const Stack& stack : build_stacks(graph, placement(mode))) {
      auto& sums = of_rank.emplace_back();
      for (const StackStep& step : stack.steps) {
        sums[step.operator_name] += ns_of(stack.kernels[as_size(step.kernel)]);
      }
    }
    const auto& slowest = of_rank[of_price.contains("lm_head") ? 1 : 0];
    ASSERT_EQ(of_price.size(), slowest.size());
    for (const auto& [name, ns] : of_price) EXPECT_NEAR(ns, slowest.at(name), 1e-6) << name;
  }
}

TEST(Pipeline, one_stage_has_no_step_apart) {
  const Composer composer(graph_of(tiny(), decode(2, 8, {.tp = 2})), placement(CacheMode::in_stack),
                          {});
  const Estimate estimate = composer.compose(timed).estimate.value();
  EXPECT_FALSE(estimate.alone);
  std::map<std::string, double> ns;
  for (const OperatorShare& share : estimate.operators) ns[share.name] += share.ns;
  EXPECT_EQ(composer.operators_ns(timed, estimate), ns);
}

// Stage 1 of two: idle, then two micro-batches of its two layers and the head; a shift ends each
// slot.
TEST(Pipeline, a_stage_waits_for_its_turn_and_executes_every_micro_batch) {
  const OperatorGraph graph = graph_of(tiny(), decode(2, 8, {.pp = 2}));
  const std::vector<Stack> stacks = build_stacks(graph, placement(CacheMode::in_stack));
  for (std::size_t stage = 0; stage < 2; ++stage) {
    std::map<std::string, std::int64_t> executed;
    std::vector<std::size_t> shifts;
    for (std::size_t i = 0; i < stacks[stage].steps.size(); ++i) {
      ++executed[stacks[stage].steps[i].operator_name];
      if (stacks[stage].steps[i].operator_name == "stage_send_recv") shifts.push_back(i);
    }
    const std::size_t work = stacks[stage].steps.size() / 2 - 1;  // of a slot
    if (stage == 0) {
      EXPECT_THAT(shifts, ElementsAre(work, 2 * work + 1, 2 * work + 2));
    } else {
      EXPECT_THAT(shifts, ElementsAre(0u, work + 1, 2 * work + 2));
    }
    for (const Operator& op : graph.operators) {
      const std::int64_t times = op.name == "stage_send_recv" ? 3 : 2 * op.stage_counts[stage];
      EXPECT_EQ(executed[op.name], times) << op.name;
    }
  }
}

// While one stage works its kernels have the memory to themselves; a head always has.
TEST(Pipeline, cases_say_how_many_shards_execute_them_at_once) {
  const OperatorGraph graph = graph_of(tiny(), decode(2, 8, {.pp = 2}));
  std::map<std::string, std::set<int>> shards;
  for (const Stack& stack : build_stacks(graph, placement(CacheMode::in_stack))) {
    for (const StackStep& step : stack.steps) {
      const KernelCase& k = stack.kernels[as_size(step.kernel)];
      EXPECT_EQ(k.parts, 2);
      shards[step.operator_name].insert(k.shards_at_once);
    }
  }
  EXPECT_THAT(shards["q_proj"], ElementsAre(1, 2));
  EXPECT_THAT(shards["lm_head"], ElementsAre(1));
  EXPECT_THAT(shards["embedding"], ElementsAre(1));
  EXPECT_THAT(shards["stage_send_recv"], ElementsAre(2));
  for (const Stack& stack : build_stacks(graph, placement(CacheMode::rotate_const))) {
    for (const KernelCase& k : stack.kernels) EXPECT_EQ(k.shards_at_once, 2) << k.key();
  }
}

// Both micro-batches read the weights of a layer, and each has a cache of its own.
TEST(Pipeline, micro_batches_share_weights_and_not_caches) {
  const OperatorGraph graph = graph_of(tiny(), decode(2, 8, {.pp = 2}));
  const Stack stack = build_stacks(graph, placement(CacheMode::in_stack)).front();
  std::map<std::string, std::vector<std::int32_t>> instances;
  for (const StackStep& step : stack.steps) {
    instances[step.operator_name].push_back(step.instance);
    EXPECT_LT(step.instance, stack.instances[as_size(step.kernel)]);
  }
  EXPECT_THAT(instances["q_proj"], ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(instances["attention"], ElementsAre(0, 1, 2, 3));
}

TEST(Pipeline, ranks_meet_in_groups_where_they_are_not_all) {
  const OperatorGraph graph = graph_of(tiny(), decode(2, 8, {.tp = 2, .pp = 2}));
  const std::vector<Stack> stacks = build_stacks(graph, placement(CacheMode::in_stack));
  const std::vector<Stack> in_short = build_short_stacks(graph, placement(CacheMode::in_stack));
  for (const auto* all : {&stacks, &in_short}) {
    for (int rank = 0; rank < 4; ++rank) {
      const Stack& stack = (*all)[as_size(rank)];
      for (std::size_t k = 0; k < stack.kernels.size(); ++k) {
        const auto members = stack.members.find(static_cast<std::int32_t>(k));
        if (!stack.kernels[k].is_collective()) {
          EXPECT_EQ(members, stack.members.end());
        } else if (stack.kernels[k].problem.op == "send_recv") {
          EXPECT_THAT(members->second, ElementsAre(rank % 2, rank % 2 + 2));
        } else {
          EXPECT_THAT(members->second, ElementsAre(rank / 2 * 2, rank / 2 * 2 + 1));
        }
      }
    }
  }
  for (const Stack& stack :
       build_stacks(graph_of(tiny(), decode(2, 8, {.tp = 2})), placement(CacheMode::in_stack))) {
    EXPECT_TRUE(stack.members.empty()) << "all ranks meet";
  }
}

TEST(Pipeline, replicas_that_exchange_rows_of_experts_meet_within_their_stage) {
  const OperatorGraph graph = graph_of(tiny_moe(), decode(4, 8, {.dp = 2, .pp = 2, .ep = 2}));
  const std::vector<Stack> stacks = build_stacks(graph, placement(CacheMode::rotate_const));
  int exchanges = 0;
  for (int rank = 0; rank < 4; ++rank) {
    const Stack& stack = stacks[as_size(rank)];
    for (std::size_t k = 0; k < stack.kernels.size(); ++k) {
      if (stack.kernels[k].problem.op != "all_to_all") continue;
      ++exchanges;
      EXPECT_THAT(stack.members.at(static_cast<std::int32_t>(k)),
                  ElementsAre(rank % 2, rank % 2 + 2));
    }
  }
  EXPECT_EQ(exchanges, 4);
}

}  // namespace
}  // namespace halmark
