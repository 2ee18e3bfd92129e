#include "measure/campaign/stack/stack_times.hpp"

#include <gtest/gtest.h>

namespace halmark {
namespace {

Stack stack(std::initializer_list<const char*> operators) {
  Stack s;
  for (const char* name : operators) {
    s.steps.push_back({.kernel = 0, .instance = 0, .operator_name = name, .layer_type = "decoder"});
  }
  return s;
}

StackSteps steps(std::initializer_list<std::initializer_list<double>> ranks) {
  StackSteps out;
  for (const auto& rank : ranks) {
    auto& of_rank = out.emplace_back();
    for (const double ns : rank) {
      TimedSample sample;
      sample.wall_ns = ns;
      of_rank.push_back(sample);
    }
  }
  return out;
}

TEST(StackTimes, operators_are_summed_per_rank_and_the_slowest_rank_counts) {
  const std::vector<Stack> stacks{stack({"a", "b", "a"}), stack({"a", "b", "a"})};
  StackRunResult result;
  ASSERT_TRUE(
      fold_times(stacks, steps({{1, 10, 2, /**/ 3, 10, 4}, {2, 5, 2, /**/ 2, 30, 2}}), result));
  EXPECT_EQ(result.step_ns, (std::vector<double>{13, 34}));
  EXPECT_EQ(result.median_ns, 23.5);
  ASSERT_EQ(result.operators.size(), 2U);
  EXPECT_EQ(result.operators[0].name, "a");
  EXPECT_EQ(result.operators[0].count, 2);
  EXPECT_EQ(result.operators[0].ns, (4 + 7) / 2.0);
  EXPECT_EQ(result.operators[1].ns, (10 + 30) / 2.0);
}

// Two repetitions; the second rank began first in one of them, by 4.
TEST(StackTimes, executions_begin_where_the_first_rank_began) {
  const std::vector<Stack> stacks{stack({"a", "b"}), stack({"a"})};
  StackSteps samples = steps({{10, 20, /**/ 14, 20}, {5, 7}});
  const std::vector<double> begins{100, 111, 204, 220};
  for (std::size_t i = 0; i < begins.size(); ++i) samples[0][i].begin_ns = begins[i];
  samples[1][0].begin_ns = 102;
  samples[1][1].begin_ns = 200;
  StackRunResult result;
  ASSERT_TRUE(fold_times(stacks, samples, result));
  const std::vector<RankExecutions> expected{{{"a", 2, 12}, {"b", 15.5, 20}}, {{"a", 1, 6}}};
  EXPECT_EQ(result.executions, expected);
}

// One rank's clock reads 100 where the other's reads 9000.
TEST(StackTimes, ranks_whose_clocks_have_nothing_in_common_begin_together) {
  const std::vector<Stack> stacks{stack({"a", "b"}), stack({"a", "b"})};
  StackSteps samples = steps({{10, 20}, {5, 7}});
  samples[0][0].begin_ns = 100;
  samples[0][1].begin_ns = 112;
  samples[1][0].begin_ns = 9000;
  samples[1][1].begin_ns = 9030;
  for (auto& rank : samples) begin_together(rank);
  StackRunResult result;
  ASSERT_TRUE(fold_times(stacks, samples, result));
  const std::vector<RankExecutions> expected{{{"a", 0, 10}, {"b", 12, 20}},
                                             {{"a", 0, 5}, {"b", 30, 7}}};
  EXPECT_EQ(result.executions, expected);
  EXPECT_EQ(result.median_ns, 30);
}

// Slots of 10 and 30 on the first rank, of 50 on the second; a shift takes 1 and 2 on the rank that
// comes last, the rest is what the other waits for it.
TEST(StackTimes, a_shift_takes_as_long_as_on_the_rank_that_came_last) {
  Stack early = stack({"a", "shift", "a", "shift"}), late = stack({"shift", "b", "shift"});
  for (Stack* s : {&early, &late}) {
    s->kernels = {{.problem = {"copy", {}}}, {.problem = {"send_recv", {}}}};
    for (StackStep& step : s->steps) step.kernel = step.operator_name == "shift" ? 1 : 0;
  }
  const std::vector<Stack> stacks{early, late};
  StackRunResult result;
  ASSERT_TRUE(fold_times(stacks, steps({{10, 1, 30, 22}, {11, 50, 2}}), result));
  EXPECT_EQ(result.median_ns, 63);
  ASSERT_EQ(result.operators.size(), 3U);
  EXPECT_EQ(result.operators[0].ns, 40);
  EXPECT_EQ(result.operators[1].name, "shift");
  EXPECT_EQ(result.operators[1].ns, 3);
  EXPECT_EQ(result.operators[2].ns, 50);
  EXPECT_DOUBLE_EQ(result.bubble_share.value(), (20 + 10) / 126.0);
  StackRunResult unstaged;
  const std::vector<Stack> one{stack({"a"})};
  ASSERT_TRUE(fold_times(one, steps({{1}}), unstaged));
  EXPECT_FALSE(unstaged.bubble_share);
}

// Both end together, and the second has more to do.
TEST(StackTimes, what_a_stage_waits_for_its_turn_does_not_make_it_the_slowest) {
  Stack s;
  s.kernels = {{.problem = {"copy", {}}}, {.problem = {"send_recv", {}}}};
  s.instances = {1, 1};
  s.steps = {{0, 0, "a", "decoder"}, {1, 0, "shift", "pipeline"}};
  const std::vector<Stack> stacks{s, s};
  const StackSteps both = steps({{10, 91}, {90, 10}});
  EXPECT_EQ(samples_of(stacks, both, s.kernels[0]).front().wall_ns, 90);
}

TEST(StackTimes, ranks_may_have_different_steps_and_repetitions) {
  const std::vector<Stack> stacks{stack({"a"}), stack({"b", "c"})};
  StackRunResult result;
  ASSERT_TRUE(fold_times(stacks, steps({{5, 6}, {1, 2}}), result));
  EXPECT_EQ(result.step_ns, (std::vector<double>{5}));
  EXPECT_EQ(result.operators.size(), 3U);
}

TEST(StackTimes, steps_that_do_not_fit_are_refused) {
  const std::vector<Stack> stacks{stack({"a", "b"})};
  StackRunResult result;
  EXPECT_FALSE(fold_times(stacks, steps({{1, 2, 3}}), result));
  EXPECT_FALSE(fold_times(stacks, steps({{}}), result));
  EXPECT_FALSE(fold_times(stacks, steps({{1, 2}, {1, 2}}), result));
}

KernelCase kernel(const char* neighbours) {
  return {
      .problem = {"copy", {{"bytes", 64}}}, .mode = CacheMode::in_stack, .neighbours = neighbours};
}

// Two kernels in turns: first, second, first.
Stack of_two_kernels() {
  return {.kernels = {kernel("first"), kernel("second")},
          .instances = {1, 1},
          .steps = {{0, 0, "a", "decoder"}, {1, 0, "b", "decoder"}, {0, 0, "a", "decoder"}}};
}

std::vector<double> ns_of(const std::vector<Sample>& samples) {
  std::vector<double> out;
  for (const Sample& sample : samples) out.push_back(sample.wall_ns);
  return out;
}

// 1 waits for the other in its second step; the slowest of each step would be 3 + 9 + 3.
TEST(StackTimes, a_sample_of_a_kernel_is_its_mean_on_the_rank_that_was_slowest_as_a_whole) {
  const std::vector<Stack> stacks{of_two_kernels(), of_two_kernels()};
  const StackSteps both = steps({{3, 4, 2, /**/ 1, 1, 1}, {1, 9, 3, /**/ 4, 5, 6}});
  EXPECT_EQ(ns_of(samples_of(stacks, both, kernel("first"))), (std::vector<double>{2, 5}));
  EXPECT_EQ(ns_of(samples_of(stacks, both, kernel("second"))), (std::vector<double>{9, 5}));
  EXPECT_TRUE(samples_of(stacks, both, kernel("third")).empty());
}

TEST(StackTimes, clean_executions_decide_where_half_of_them_are_clean) {
  const std::vector<Stack> stacks{of_two_kernels()};
  StackSteps one = steps({{1, 2, 9, /**/ 1, 2, 9, /**/ 1, 2, 9}});
  for (TimedSample& s : one[0]) s.label = SampleLabel::clean;
  one[0][2].label = SampleLabel::disturbed;
  one[0][6].label = one[0][8].label = SampleLabel::disturbed;
  const auto samples = samples_of(stacks, one, kernel("first"));
  EXPECT_EQ(ns_of(samples), (std::vector<double>{1, 5, 5}));
  EXPECT_EQ(samples[0].label, SampleLabel::clean);
  EXPECT_EQ(samples[1].label, SampleLabel::clean);
  EXPECT_EQ(samples[2].label, SampleLabel::disturbed);
}

TEST(StackTimes, only_ranks_that_hold_a_kernel_have_samples_of_it) {
  Stack other;
  other.kernels = {kernel("other")};
  other.instances = {1};
  other.steps = {{0, 0, "c", "head"}};
  const std::vector<Stack> stacks{of_two_kernels(), other};
  const StackSteps both = steps({{1, 2, 3}, {50}});
  EXPECT_EQ(ns_of(samples_of(stacks, both, kernel("second"))), (std::vector<double>{2}));
  EXPECT_EQ(ns_of(samples_of(stacks, both, kernel("other"))), (std::vector<double>{50}));
}

// What a block of a run meets its kernels meet: their means, times their counts, are the run.
TEST(StackTimes, means_of_all_executions_add_up_to_the_mean_repetition) {
  const std::vector<Stack> stacks{of_two_kernels()};
  StackSteps one = steps({{1, 2, 9, /**/ 1, 2, 3, /**/ 1, 50, 3}});
  for (TimedSample& s : one[0]) s.label = SampleLabel::clean;
  one[0][2].label = one[0][7].label = SampleLabel::disturbed;
  const double first = mean_ns(stacks, one, kernel("first")).value();
  const double second = mean_ns(stacks, one, kernel("second")).value();
  EXPECT_DOUBLE_EQ(first, 3);
  EXPECT_DOUBLE_EQ(second, 18);
  EXPECT_DOUBLE_EQ(2 * first + second, (12 + 6 + 54) / 3.0);
  EXPECT_FALSE(mean_ns(stacks, one, kernel("third")));
}

}  // namespace
}  // namespace halmark
