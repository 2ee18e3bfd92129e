// One configuration on the device: what is refused before anything starts, and what a plugin that
// does not load or an interruption leaves.
#include "tests/unit/expect.hpp"
#include "tune/validate/run_configuration.hpp"

#include <gmock/gmock.h>

#include "tests/checkout.hpp"
#include "tests/stopped.hpp"

namespace halmark::tune {
namespace {

using halmark::test::expect_error;
using testing::HasSubstr;

ModelSpec spec() { return load_model("tiny-qwen3", {halmark::test::in_source("/tests/data")}); }

Configuration with_tp(int tp) {
  return {.model = spec().id,
          .parallel = {.tp = tp},
          .precision = Precision::uniform("f32", Dtype::f32),
          .workload = {Phase::decode, 1, 1, 16}};
}

Target two_cores() {
  Target out;
  out.cores = 2;
  out.memory_bytes = 1ll << 30;
  return out;
}

KernelMeasuring nowhere() {
  return {
      .backend = "cpu", .plugin_path = "/nowhere/hm_cpu.so", .plugin_hash = "00ff", .rounds = 1};
}

TEST(RunConfiguration, an_impossible_split_is_refused_with_its_reason_before_anything_starts) {
  KernelMeasuring measuring = nowhere();
  int rows = 0;
  measuring.sink = [&](const Measurement&) { ++rows; };
  expect_error([&] { run_configuration(spec(), with_tp(3), two_cores(), measuring, 0.1); },
               "tp_does_not_divide", ExitCode::refused);
  EXPECT_EQ(rows, 0);
}

TEST(RunConfiguration, experts_without_ranks_are_refused_with_what_to_add) {
  Configuration alone = with_tp(1);
  alone.parallel.ep = 2;
  ModelSpec experts =
      load_model("granite-3.1-1b-a400m", {halmark::test::in_source("/configs/models")});
  alone.model = experts.id;
  expect_error([&] { require_runnable(experts, alone, two_cores()); }, "add --dp 2 or --tp 2",
               ExitCode::refused);
}

// There is no such plugin: what was run is said to be oversubscribed all the same.
TEST(RunConfiguration, more_ranks_than_cores_are_run_and_never_measured) {
  KernelMeasuring measuring = nowhere();
  int rows = 0;
  measuring.sink = [&](const Measurement&) { ++rows; };
  Configuration four = with_tp(2);
  four.parallel.dp = 2;
  four.workload.batch = 2;
  const RunOutcome out = run_configuration(spec(), four, two_cores(), measuring, 0.1);
  EXPECT_EQ(rows, 0);
  EXPECT_FALSE(out.evaluation.estimate);
  EXPECT_EQ(out.evaluation.refusal, "oversubscribed");
  ASSERT_TRUE(out.validation);
  EXPECT_TRUE(out.validation->is_oversubscribed);
  EXPECT_THAT(out.validation->reason, HasSubstr("oversubscribed: 4 ranks on 2 cores; "));
  EXPECT_FALSE(out.validation->was_run());
  EXPECT_FALSE(two_cores().is_oversubscribed(2));
  EXPECT_EQ(two_cores().placement(4).parts, 2) << "ranks take turns on the parts";
  EXPECT_EQ(two_cores().placement(2).parts, 2);
}

TEST(RunConfiguration, kernels_that_failed_leave_a_reason_and_no_run_of_the_stack) {
  const RunOutcome out = run_configuration(spec(), with_tp(1), two_cores(), nowhere(), 0.1);
  EXPECT_FALSE(out.evaluation.estimate);
  EXPECT_FALSE(out.evaluation.reason.empty());
  EXPECT_EQ(out.evaluation.configuration.key(), with_tp(1).key());
  EXPECT_FALSE(out.validation);
}

TEST(RunConfiguration, an_interruption_leaves_neither_estimate_nor_run) {
  KernelMeasuring measuring = nowhere();
  measuring.stop = test::stopped();
  const RunOutcome out = run_configuration(spec(), with_tp(1), two_cores(), measuring, 0.1);
  EXPECT_FALSE(out.evaluation.estimate);
  EXPECT_FALSE(out.validation);
}

}  // namespace
}  // namespace halmark::tune
