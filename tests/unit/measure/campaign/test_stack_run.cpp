// Whole stacks end to end: real workers, scripted plugin.
#include "measure/campaign/stack/stack_run.hpp"

#include "fake_campaign.hpp"
#include "host/partition.hpp"
#include "measure/campaign/stack/stack_collectives.hpp"
#include "tests/unit/shadow_memory.hpp"

namespace halmark {
namespace {

Stack two_layers(int parts) {
  Stack stack;
  stack.kernels = {copy_case(4096), gemm_case(4, 16, 8, 1)};
  for (KernelCase& k : stack.kernels) k.parts = k.shards_at_once = parts;
  stack.instances = {1, 2};
  stack.steps = {
      {0, 0, "embedding", "embedding"}, {1, 0, "proj", "decoder"}, {1, 1, "proj", "decoder"}};
  return stack;
}

StackRunOptions options(const std::string& script) {
  StackRunOptions o;
  o.plugin_path = fake_plugin_path;
  o.environment["HALMARK_FAKE_SCRIPT"] = script;
  o.thresholds = blind_thresholds();
  o.block_s = 0.05;
  return o;
}

TEST(StackRun, executes_every_step_and_reports_operators) {
  const std::vector<Stack> stacks{two_layers(1)};
  const StackRunResult run = run_stacks(stacks, options("latency_ns=300000"));
  ASSERT_EQ(run.status, Status::ok) << run.reason;
  EXPECT_GE(run.step_ns.size(), 3U);
  EXPECT_GE(run.median_ns, 3 * 300000.0);
  ASSERT_EQ(run.operators.size(), 2U);
  EXPECT_EQ(run.operators[1].name, "proj");
  EXPECT_EQ(run.operators[1].count, 2);
  EXPECT_GE(run.operators[1].ns, 2 * 300000.0);
  EXPECT_GT(run.correctness.checked, 0);
  EXPECT_TRUE(run.shared_instances.empty());
  EXPECT_LE(run.interval_ns.low, run.median_ns);
  EXPECT_GE(run.interval_ns.high, run.median_ns);
}

TEST(StackRun, shards_run_at_once_and_arenas_are_kept) {
  if (Topology::of_machine().processing_units() < 2) GTEST_SKIP() << "one CPU";
  std::vector<SharedMemory> arenas;
  StackRunOptions o = options("latency_ns=300000");
  o.arenas = &arenas;
  const std::vector<Stack> stacks{two_layers(2), two_layers(2)};
  const StackRunResult run = run_stacks(stacks, o);
  ASSERT_EQ(run.status, Status::ok) << run.reason;
  EXPECT_EQ(arenas.size(), 2U);
  EXPECT_EQ(run_stacks(stacks, o).status, Status::ok);
}

TEST(StackRun, takes_turns_with_its_kernels) {
  const std::vector<Stack> stacks{two_layers(1)};
  StackRunOptions o = options("latency_ns=300000");
  o.block_s = 0.02;
  o.pairs = 3;
  const KernelCase elsewhere = copy_case(8192);  // of no step
  o.beside = {stacks[0].kernels[1], elsewhere};
  const StackRunResult run = run_stacks(stacks, o);
  ASSERT_EQ(run.status, Status::ok) << run.reason;
  ASSERT_EQ(run.pairs.size(), 3U);
  for (const StackPair& pair : run.pairs) {
    EXPECT_GE(pair.stack_ns, 3 * 300000.0);
    ASSERT_EQ(pair.kernel_ns.size(), 2U);
    for (const double ns : pair.kernel_ns) EXPECT_GE(ns, 300000.0);
    EXPECT_FALSE(pair.is_apart) << "nothing is known of the memory";
  }
  EXPECT_FALSE(run.bytes_per_s);
  EXPECT_GE(run.step_ns.size(), 4U) << "a block before each pair and one behind the last";
}

TEST(StackRun, a_device_with_memory_of_its_own_has_no_state_of_the_host) {
  const std::vector<Stack> stacks{two_layers(1)};
  StackRunOptions o = options("latency_ns=300000");
  o.block_s = 0.02;
  o.pairs = 2;
  o.beside = {stacks[0].kernels[1]};
  o.walk_bytes = 64 << 20;
  const StackRunResult run = run_stacks(stacks, o);
  ASSERT_EQ(run.status, Status::ok) << run.reason;
  EXPECT_FALSE(run.bytes_per_s);
  EXPECT_EQ(run.pairs.size(), 2U);
}

TEST(StackRun, memory_is_measured_where_it_is_asked_for) {
  const std::vector<Stack> stacks{two_layers(1)};
  StackRunOptions o = options("latency_ns=300000;hoard_bytes=33554432");
  const KernelCase elsewhere = copy_case(8192);  // of no step
  o.beside = {stacks[0].kernels[1], elsewhere};
  o.pairs = 1;
  o.block_s = 0.01;
  EXPECT_TRUE(run_stacks(stacks, o).memory.empty());
  o.measures_memory = true;
  const StackRunResult run = run_stacks(stacks, o);
  ASSERT_EQ(run.status, Status::ok) << run.reason;
  ASSERT_EQ(run.memory.size(), 1U);
  const RankStaging& staged = run.memory[0];
  ASSERT_EQ(staged.kernels.size(), 3U);
  EXPECT_EQ(staged.kernels[1].problem.op, "gemm");
  EXPECT_EQ(staged.kernels[1].instances, 2);
  EXPECT_EQ(staged.kernels[1].sets, 2);
  EXPECT_EQ(staged.kernels[1].memory.at(1).count, 2) << "weights of two instances";
  // 16 x 8 weights, canaries and alignment: far less than a page.
  EXPECT_EQ(staged.kernels[1].memory[1].bytes, 16 * 8 * 4);
  EXPECT_EQ(staged.kernels[1].memory[1].around_bytes, 4096 - 16 * 8 * 4);
  EXPECT_EQ(staged.kernels[1].memory[1].allocated_bytes, 2 * 4096);
  EXPECT_EQ(staged.kernels[2].instances, 0) << "beside the stack";
  ASSERT_TRUE(staged.baseline_bytes && staged.set_size_bytes) << staged.reason;
  const std::int64_t grown = *staged.set_size_bytes - *staged.baseline_bytes;
  // Pages of libraries count less as other workers of the same program start.
  EXPECT_GE(grown, 3 * 33'554'432 - 8'388'608) << "three kernels hoard";
  if (!test::has_shadow_memory) {
    EXPECT_LE(grown, 4 * 33'554'432);
  }
}

TEST(StackRun, a_run_that_failed_in_staging_has_no_memory) {
  const std::vector<Stack> stacks{two_layers(1)};
  StackRunOptions o = options("crash=enqueue");
  o.measures_memory = true;
  EXPECT_TRUE(run_stacks(stacks, o).memory.empty());
}

TEST(StackRun, an_interruption_ends_it_between_blocks) {
  const std::vector<Stack> stacks{two_layers(1)};
  StackRunOptions o = options("latency_ns=300000");
  o.beside = {stacks[0].kernels[1]};
  o.block_s = 0.01;
  o.pairs = 1000;
  int asked = 0;
  o.should_stop = [&] { return ++asked > 3; };  // once while its memory is taken
  const StackRunResult run = run_stacks(stacks, o);
  EXPECT_EQ(run.status, Status::cancelled);
  EXPECT_EQ(run.pairs.size(), 2U);
}

TEST(StackRun, a_wrong_kernel_is_never_timed) {
  const std::vector<Stack> stacks{two_layers(1)};
  const StackRunResult run = run_stacks(stacks, options("wrong=last_element"));
  EXPECT_EQ(run.status, Status::wrong_result);
  EXPECT_TRUE(run.step_ns.empty());
  EXPECT_FALSE(run.reason.empty());
}

TEST(StackRun, a_crash_is_a_status) {
  const std::vector<Stack> stacks{two_layers(1)};
  const StackRunResult run = run_stacks(stacks, options("crash=enqueue"));
  EXPECT_EQ(run.status, Status::crashed) << run.reason;
}

KernelCase all_reduce_case(std::int64_t bytes, std::int64_t ranks) {
  return fake_case({"all_reduce", {{"bytes", bytes}, {"ranks", ranks}, {"dtype", 2}}});
}

// One layer that ends in the given collectives.
Stack reducing(const std::vector<KernelCase>& collectives) {
  Stack stack;
  stack.kernels = {copy_case(4096)};
  stack.instances = {1};
  stack.steps = {{0, 0, "copy", "decoder"}};
  for (const KernelCase& c : collectives) {
    stack.steps.push_back(
        {static_cast<std::int32_t>(stack.kernels.size()), 0, "reduce", "decoder"});
    stack.kernels.push_back(c);
    stack.instances.push_back(1);
  }
  return stack;
}

TEST(StackRun, ranks_that_would_wait_for_each_other_never_start) {
  const std::vector<std::vector<Stack>> mismatches{
      {reducing({all_reduce_case(64, 2)}), reducing({all_reduce_case(128, 2)})},
      {reducing({all_reduce_case(64, 2)}), reducing({})},
      {reducing({}), reducing({all_reduce_case(64, 2)})},
      {reducing({all_reduce_case(64, 2), all_reduce_case(128, 2)}),
       reducing({all_reduce_case(128, 2), all_reduce_case(64, 2)})}};
  for (const auto& stacks : mismatches) {
    const StackRunResult run = run_stacks(stacks, options(""));
    EXPECT_EQ(run.status, Status::refused);
    EXPECT_NE(run.reason.find("on rank 0"), std::string::npos) << run.reason;
    EXPECT_NE(run.reason.find("on rank 1"), std::string::npos) << run.reason;
  }
}

TEST(StackRun, a_collective_of_some_ranks_is_refused) {
  const std::vector<Stack> stacks(4, reducing({all_reduce_case(64, 2)}));
  const StackRunResult run = run_stacks(stacks, options(""));
  EXPECT_EQ(run.status, Status::refused);
  EXPECT_NE(run.reason.find("ranks=2"), std::string::npos) << run.reason;
  EXPECT_NE(run.reason.find("4 ranks"), std::string::npos) << run.reason;
}

// Two groups of two ranks each, then one that takes a rank of either.
TEST(StackRun, ranks_meet_in_the_groups_that_their_stacks_name) {
  const auto stacks_with = [](const std::vector<std::vector<int>>& members) {
    std::vector<Stack> stacks(members.size(), reducing({all_reduce_case(64, 2)}));
    for (std::size_t rank = 0; rank < stacks.size(); ++rank) {
      stacks[rank].members[1] = members[rank];
    }
    return stacks;
  };
  const auto apart = stacks_with({{0, 1}, {0, 1}, {2, 3}, {2, 3}});
  EXPECT_FALSE(collective_mismatch(apart)) << *collective_mismatch(apart);
  using Cut = std::vector<std::vector<int>>;
  EXPECT_EQ(rank_cuts(apart), (std::vector<Cut>{{{0, 1}, {2, 3}}}));
  const auto crossed = stacks_with({{0, 1}, {0, 1}, {1, 2}, {2, 3}});
  ASSERT_TRUE(collective_mismatch(crossed));
  const auto alone = stacks_with({{0, 1}, {0, 1}, {}, {}});
  ASSERT_TRUE(collective_mismatch(alone));
  EXPECT_NE(collective_mismatch(alone)->find("0 of the 4 ranks"), std::string::npos)
      << *collective_mismatch(alone);
  auto both = apart;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    both[rank].kernels.push_back(all_reduce_case(128, 2));
    both[rank].instances.push_back(1);
    both[rank].steps.push_back({2, 0, "shift", "pipeline"});
    both[rank].members[2] = {static_cast<int>(rank % 2), static_cast<int>(rank % 2 + 2)};
  }
  EXPECT_FALSE(collective_mismatch(both)) << *collective_mismatch(both);
  EXPECT_EQ(rank_cuts(both), (std::vector<Cut>{{{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}}));
  // Each of the four waits for one that waits for the next.
  for (const std::size_t rank : {0, 3}) std::swap(both[rank].steps[1], both[rank].steps[2]);
  ASSERT_TRUE(collective_mismatch(both));
  EXPECT_NE(collective_mismatch(both)->find("on rank 0"), std::string::npos)
      << *collective_mismatch(both);
}

TEST(StackRun, some_ranks_without_a_group_of_theirs_are_refused) {
  std::vector<Stack> stacks(3, reducing({}));
  for (std::size_t rank = 0; rank < 2; ++rank) {
    stacks[rank] = reducing({all_reduce_case(64, 2)});
    stacks[rank].members[1] = {0, 1};
  }
  const auto reason = collective_mismatch(stacks);
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("only 2 of the 3 ranks"), std::string::npos) << *reason;
}

// A head that one of two ranks has: the other waits while it is measured.
TEST(StackRun, a_kernel_of_one_stage_is_measured_on_its_rank_alone) {
  if (Topology::of_machine().processing_units() < 2) GTEST_SKIP() << "one CPU";
  std::vector<Stack> stacks{two_layers(2), two_layers(2)};
  KernelCase head = gemm_case(4, 32, 8, 1);
  head.parts = 2;
  head.shards_at_once = 1;
  stacks[1].kernels.push_back(head);
  stacks[1].instances.push_back(1);
  stacks[1].steps.push_back({2, 0, "head", "head"});
  StackRunOptions o = options("latency_ns=300000");
  o.block_s = 0.02;
  o.pairs = 2;
  o.beside = {head, stacks[0].kernels[1]};
  const StackRunResult run = run_stacks(stacks, o);
  ASSERT_EQ(run.status, Status::ok) << run.reason;
  ASSERT_EQ(run.pairs.size(), 2U);
  for (const StackPair& pair : run.pairs) {
    for (const double ns : pair.kernel_ns) EXPECT_GE(ns, 300000.0);
  }
}

// More ranks than cores: no verdict on times, and a wrong output is still one.
TEST(StackRun, an_oversubscribed_run_is_judged_by_its_outputs) {
  std::vector<Stack> stacks(4, two_layers(1));
  StackRunOptions o = options("latency_ns=100000");
  o.is_oversubscribed = true;
  o.thresholds = {};
  o.block_s = 0;
  const StackRunResult run = run_stacks(stacks, o);
  EXPECT_EQ(run.status, Status::ok) << run.reason;
  EXPECT_GT(run.correctness.checked, 0);
  o.environment["HALMARK_FAKE_SCRIPT"] = "wrong=last_element";
  EXPECT_EQ(run_stacks(stacks, o).status, Status::wrong_result);
}

TEST(StackRun, an_empty_stack_is_refused) {
  const std::vector<Stack> stacks(1);
  EXPECT_EQ(run_stacks(stacks, options("")).status, Status::refused);
}

}  // namespace
}  // namespace halmark
