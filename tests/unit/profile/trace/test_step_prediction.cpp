// Steps of a trace as kernels and a rest, and what is predicted of them: sums by hand.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "tests/unit/expect.hpp"
#include "trace_text.hpp"

#include "profile/comparison/step_prediction.hpp"

namespace halmark::trace_test {
namespace {

// One product of 4 x 8 by 8 x 16 in `us`, one of another length in 10 us, and an addition.
void add_step(TraceText& text, int number, double begin, double us, double addition_us) {
  const std::string types = R"("Input type": ["float", "float"], "Input Dims": )";
  text.annotation("ProfilerStep#" + std::to_string(number), begin, 100)
      .event("cpu_op", "aten::mm", begin + 1, us, types + "[[4, 8], [8, 16]]")
      .event("cpu_op", "aten::mm", begin + 30, us, types + "[[4, 8], [8, 16]]")
      .event("cpu_op", "aten::mm", begin + 60, 10, types + "[[4, 8], [8, 32]]")
      .event("cpu_op", "aten::add", begin + 80, addition_us, types + "[[4, 16], [4, 16]]");
}

std::vector<TracedStep> three_passes() {
  TraceText text;
  add_step(text, 0, 0, 4, 6);
  add_step(text, 1, 1000, 5, 7);
  add_step(text, 2, 2000, 20, 9);  // disturbed
  return traced_steps(read_text(text.text()).attribution);
}

TEST(StepPrediction, equal_passes_are_one_step_with_their_medians) {
  const std::vector<TracedStep> steps = three_passes();
  ASSERT_EQ(steps.size(), 1u);
  const TracedStep& step = steps[0];
  EXPECT_EQ(step.passes, 3);
  ASSERT_EQ(step.kernels.size(), 2u);
  EXPECT_EQ(step.kernels[0].problem.params.at("n"), 16);
  EXPECT_EQ(step.kernels[0].problem.params.at("m"), 4);
  EXPECT_EQ(step.kernels[0].problem.params.at("k"), 8);
  EXPECT_EQ(step.kernels[0].count, 2);
  EXPECT_DOUBLE_EQ(step.kernels[0].traced_ns, 10e3);
  EXPECT_EQ(step.kernels[1].problem.params.at("n"), 32);
  EXPECT_EQ(step.other_count, 1);
  EXPECT_DOUBLE_EQ(step.other_ns, 7e3);
  EXPECT_DOUBLE_EQ(step.wall_ns, 100e3);
  // 100 - (8 + 10 + 6), 100 - (10 + 10 + 7), 100 - (40 + 10 + 9) us.
  EXPECT_DOUBLE_EQ(step.outside_ns, 73e3);
  EXPECT_DOUBLE_EQ(constant_bytes(step), 4 * (2 * 8 * 16 + 8 * 32)) << "f32 weights";
}

TEST(StepPrediction, measured_kernels_take_the_place_of_traced_ones) {
  const TracedStep step = three_passes().at(0);
  const StepPrediction out = predict(step, [](const Problem& problem) -> KernelTime {
    if (problem.params.at("n") == 16) return {2e3, 1.5e3, 4e3, ""};
    return {{}, {}, {}, "unsupported: no f32"};
  });
  EXPECT_DOUBLE_EQ(out.measured_ns, 2 * 2e3);
  EXPECT_DOUBLE_EQ(out.traced_ns, 10e3 + 7e3 + 73e3);
  EXPECT_DOUBLE_EQ(out.total_ns(), 94e3);
  EXPECT_DOUBLE_EQ(out.low_ns, 94e3 - 2 * 0.5e3);
  EXPECT_DOUBLE_EQ(out.high_ns, 94e3 + 2 * 2e3);
  EXPECT_EQ(out.measured, 2);
  EXPECT_EQ(out.traced, 2);
  const Json json = prediction_json(step, out);
  EXPECT_THAT(json, test::HasValues(R"({"/kernels/0/source": "measured",
      "/kernels/1/reason": "unsupported: no f32", "/step_ns": 94e3})"));
}

TEST(StepPrediction, other_kernels_are_another_step) {
  TraceText text;
  add_step(text, 0, 0, 4, 6);
  text.annotation("ProfilerStep#1", 1000, 50)
      .event("cpu_op", "aten::mm", 1001, 5,
             R"("Input type": ["float", "float"], "Input Dims": [[4, 8], [8, 16]])");
  const auto steps = traced_steps(read_text(text.text()).attribution);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1].kernels.size(), 1u);
  EXPECT_DOUBLE_EQ(steps[1].outside_ns, 45e3);
}

TEST(StepPrediction, what_no_contract_of_ours_does_stays_with_the_trace) {
  TraceText text;
  text.annotation("ProfilerStep#0", 0, 100)
      .event("cpu_op", "aten::bmm", 1, 5,
             R"("Input type": ["float", "float"], "Input Dims": [[3, 4, 8], [3, 8, 16]])")
      .event("cpu_op", "aten::mm", 10, 5, R"("Input Dims": [[4, 8], [8, 16]])");
  const auto steps = traced_steps(read_text(text.text()).attribution);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_TRUE(steps[0].kernels.empty()) << "a batch of three, and a product of unknown types";
  EXPECT_DOUBLE_EQ(steps[0].other_ns, 10e3);
}

}  // namespace
}  // namespace halmark::trace_test
