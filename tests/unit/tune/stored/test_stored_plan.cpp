#include "tune/stored/stored_plan.hpp"

#include <gtest/gtest.h>

#include "core/text/error.hpp"

namespace halmark::tune {
namespace {

TEST(StoredPlan, lines_of_version_0_1_0_are_read) {
  const StoredPlan plan = read_stored_plan(
      "sweep quickstart\nmodel qwen3-0.6b\nsampler grid\nobjective latency\nobjective memory\n"
      "left_out prefill batch 4 f32: would take 31 s of measuring\ndeployment x\n");
  EXPECT_FALSE(plan.is_of_this_version);
  EXPECT_EQ(plan.sweep, "quickstart");
  EXPECT_EQ(plan.model, "qwen3-0.6b");
  EXPECT_EQ(plan.objectives, (std::vector<std::string>{"latency", "memory"}));
  ASSERT_EQ(plan.left_out.size(), 1u);
  EXPECT_EQ(plan.left_out.front(), "prefill batch 4 f32: would take 31 s of measuring");
}

TEST(StoredPlan, a_run_without_a_plan_is_a_run) { EXPECT_EQ(read_stored_plan("").sweep, "run"); }

TEST(StoredPlan, json_is_read) {
  const StoredPlan plan = read_stored_plan(
      R"({"plan":2,"sweep":"s","model":"m","objectives":["latency"],"left_out":["a"]})");
  EXPECT_TRUE(plan.is_of_this_version);
  EXPECT_EQ(plan.sweep, "s");
  EXPECT_EQ(plan.left_out, (std::vector<std::string>{"a"}));
}

TEST(StoredPlan, what_is_neither_is_an_error_and_no_crash) {
  EXPECT_THROW(read_stored_plan("{"), Error);
  EXPECT_THROW(read_stored_plan(R"({"plan":2})"), Error);
}

}  // namespace
}  // namespace halmark::tune
