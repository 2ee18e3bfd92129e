// What a run of a stack is given of the time that there is: fewer and shorter turns before none.
#include "tune/validate/stack_turns.hpp"

#include <gtest/gtest.h>

namespace halmark::tune {
namespace {

Estimate step_of(double seconds) { return {.step_ns = seconds * 1e9}; }

TEST(StackTurns, are_five_pairs_and_two_more_where_there_is_time) {
  const auto turns = turns_within(step_of(0.1), 1, 1000);
  ASSERT_TRUE(turns);
  EXPECT_EQ(turns->pairs, 5);
  EXPECT_EQ(turns->pairs_more, 2);
  EXPECT_DOUBLE_EQ(turns->block_s, 1);
  // Eight turns of the stack with a step before each, seven of the kernels, and two steps at first.
  EXPECT_DOUBLE_EQ(turns->run_s, 1.5 + 8 * 1.1 + 7 * 1 + 2 * 0.1);
}

TEST(StackTurns, become_shorter_then_fewer_and_never_cost_more_than_there_is) {
  double last_s = 1e9;
  int last_pairs = 7;
  for (double affordable_s = 30; affordable_s > 0; affordable_s -= 0.25) {
    const auto turns = turns_within(step_of(0.1), 1, affordable_s);
    if (!turns) {
      EXPECT_LT(affordable_s, cheapest_run_s(step_of(0.1), 1));
      continue;
    }
    EXPECT_LE(turns->run_s, affordable_s);
    EXPECT_LE(turns->run_s, last_s);
    EXPECT_LE(turns->pairs + turns->pairs_more, last_pairs);
    EXPECT_GE(turns->pairs, 3);
    last_s = turns->run_s;
    last_pairs = turns->pairs + turns->pairs_more;
  }
  EXPECT_EQ(last_pairs, 3);
}

// Five seconds alone: what is run is not the step of a stream.
TEST(StackTurns, of_a_pipeline_are_turns_of_the_step_that_stands_alone) {
  Estimate estimate = step_of(3);
  estimate.alone = {5e9, 5e9, 5e9};
  EXPECT_DOUBLE_EQ(cheapest_run_s(estimate, 1), 1.5 + 5 + 4 * 5 + 3 * 0.5);
}

TEST(StackTurns, include_the_staging_of_weights) {
  Estimate estimate = step_of(0.1);
  const double without_s = cheapest_run_s(estimate, 1);
  estimate.memory_bytes_total = 1'500'000'000;
  EXPECT_NEAR(cheapest_run_s(estimate, 1) - without_s, 3, 1e-9);
}

}  // namespace
}  // namespace halmark::tune
