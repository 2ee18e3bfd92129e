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

TEST(StackTimes, operators_are_summed_per_rank_and_the_slowest_rank_counts) {
  const std::vector<Stack> stacks{stack({"a", "b", "a"}), stack({"a", "b", "a"})};
  const std::vector<std::vector<double>> blocks{
      {1, 10, 2, 13, /**/ 3, 10, 4, 17},
      {2, 5, 2, 9, /**/ 2, 30, 2, 34},
  };
  StackRunResult result;
  ASSERT_TRUE(fold_times(stacks, blocks, result));
  EXPECT_EQ(result.step_ns, (std::vector<double>{13, 34}));
  EXPECT_EQ(result.median_ns, 23.5);
  ASSERT_EQ(result.operators.size(), 2U);
  EXPECT_EQ(result.operators[0].name, "a");
  EXPECT_EQ(result.operators[0].count, 2);
  EXPECT_EQ(result.operators[0].ns, (4 + 7) / 2.0);
  EXPECT_EQ(result.operators[1].ns, (10 + 30) / 2.0);
}

TEST(StackTimes, ranks_may_have_different_steps_and_repetitions) {
  const std::vector<Stack> stacks{stack({"a"}), stack({"b", "c"})};
  const std::vector<std::vector<double>> blocks{{5, 5, 6, 6}, {1, 2, 3}};
  StackRunResult result;
  ASSERT_TRUE(fold_times(stacks, blocks, result));
  EXPECT_EQ(result.step_ns, (std::vector<double>{5}));
  EXPECT_EQ(result.operators.size(), 3U);
}

TEST(StackTimes, blocks_that_do_not_fit_are_refused) {
  const std::vector<Stack> stacks{stack({"a"})};
  StackRunResult result;
  EXPECT_FALSE(fold_times(stacks, std::vector<std::vector<double>>{{1, 2, 3}}, result));
  EXPECT_FALSE(fold_times(stacks, std::vector<std::vector<double>>{{}}, result));
}

}  // namespace
}  // namespace halmark
