// From kernels to steps, by hand: a step of 100 us, of which attention takes 20 us (twice 5 and
// once 10) and the head 15 us.
#include "history/step_changes.hpp"

#include <gmock/gmock.h>

#include "history/view/step_changes_view.hpp"
#include "stored.hpp"

namespace halmark::history {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr double us = 1000;

Measurement kernel(std::int64_t m, double ns, int round) {
  return test::measurement(m, ns * (1 + 0.001 * round), round);
}
std::string key_of(std::int64_t m) { return kernel(m, 1, 0).kernel_case.key(); }

// Three rounds of each: the median is the second one's.
std::vector<Measurement> rows() {
  std::vector<Measurement> out;
  for (int round = 0; round < 3; ++round) {
    out.push_back(kernel(1, 5 * us, round));
    out.push_back(kernel(2, 10 * us, round));
    out.push_back(kernel(3, 15 * us, round));
    out.push_back(kernel(4, 5 * us + 1, round));
  }
  return out;
}

OperatorShare share(const char* name, std::int64_t count, double ns) {
  const auto of = [&](int round) { return static_cast<double>(count) * ns * (1 + 0.001 * round); };
  return {.name = name, .count = count, .ns = of(1), .low_ns = of(0), .high_ns = of(2)};
}

Evaluation step(std::int64_t batch, std::vector<OperatorShare> operators) {
  Evaluation out{.configuration = {.model = "m", .workload = {.batch = batch}}};
  out.estimate.emplace();
  for (const OperatorShare& o : operators) out.estimate->step_ns += o.ns;
  out.estimate->operators = std::move(operators);
  return out;
}

SeriesHistory called(std::int64_t m, Change change, double ratio) {
  SeriesHistory out{.name = {.what = key_of(m)}};
  out.change = change;
  out.ratio = ratio;
  return out;
}

std::vector<Evaluation> evaluations() {
  return {step(1, {share("attention", 2, 5 * us), share("attention", 1, 10 * us),
                   share("head", 1, 15 * us), share("mlp", 11, 5 * us + 1)}),
          step(4, {share("mlp", 20, 5 * us + 1)}),
          step(8, {share("attention", 1, 5 * us), share("mlp", 1, 5 * us + 1)})};
}

TEST(StepChanges, parts_of_a_step_sum_to_the_whole) {
  const ChangedSteps changed =
      changed_steps({called(1, Change::slower, 1.25), called(2, Change::slower, 1.1),
                     called(3, Change::faster, 0.9), called(4, Change::same, 1.2)},
                    rows(), evaluations(), {0, 1});
  ASSERT_EQ(changed.steps.size(), 2u);
  const StepChange& half = changed.steps[0];
  EXPECT_THAT(half.configuration, HasSubstr(" b8 ")) << "10 us, of which 1 us is new";
  EXPECT_NEAR(half.points(), 100.0 / 9, 0.01);
  EXPECT_FALSE(half.is_on_front);
  const StepChange& one = changed.steps[1];
  // 10 us are 2 us slower, 10 us 0.909 us slower, 15 us 1.667 us faster: of 90 - 1.2424 us before.
  const double before = 90.011 - 1.2424;
  EXPECT_NEAR(one.points(), 1.2424 / before * 100, 0.01);
  double sum = 0;
  for (const StepPart& part : one.parts) sum += part.points;
  EXPECT_NEAR(sum, one.points(), 1e-9);
  const auto parts = named_parts(one);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].name, "attention");
  EXPECT_NEAR(parts[0].points, 2.9091 / before * 100, 0.01);
  EXPECT_EQ(parts[1].name, "head");
  EXPECT_NEAR(parts[1].points, -1.6667 / before * 100, 0.01);
}

TEST(StepChanges, the_front_is_one_line_and_kernels_say_which_steps_they_are_of) {
  const std::vector<std::string> lines = step_change_lines(
      changed_steps({called(1, Change::slower, 1.25)}, rows(), evaluations(), {0, 1}));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[0], HasSubstr("+11.1 %: attention 11.1 points"));
  EXPECT_THAT(lines[1], HasSubstr("+2.3 %: attention 2.3 points"));
  EXPECT_THAT(lines[2], StartsWith("gemm k=64 m=1 n=64: 11.1 points of m decode b8"));
  EXPECT_THAT(lines[3], testing::AllOf(StartsWith("the front: 1 of 2 configurations have changed"),
                                       HasSubstr("the fastest decode, m decode b1"),
                                       testing::EndsWith("by +2.3 %")));
}

TEST(StepChanges, what_no_kernel_of_the_night_explains_has_no_part) {
  EXPECT_TRUE(
      changed_steps({called(4, Change::same, 1.2)}, rows(), evaluations(), {}).steps.empty());
  EXPECT_TRUE(
      changed_steps({called(7, Change::slower, 1.2)}, rows(), evaluations(), {}).steps.empty());
  EXPECT_THAT(step_change_lines({}), ElementsAre());
}

TEST(StepChanges, small_parts_are_one) {
  StepChange step{.before_ns = 1000, .after_ns = 1011};
  step.parts = {{"a", "k", 1}, {"b", "k", 0.06}, {"c", "k", 0.04}};
  const auto parts = named_parts(step);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].name, "others");
  EXPECT_NEAR(parts[1].points, 0.1, 1e-12);
}

}  // namespace
}  // namespace halmark::history
