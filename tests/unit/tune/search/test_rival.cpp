// Rivals of reports whose times are known, against probabilities of normal distributions.
#include "tune/search/rival.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace halmark::tune {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// A 90 % interval of this standard deviation.
OperatorShare times(const std::string& name, double ns, double deviation) {
  return {.name = name,
          .count = 1,
          .ns = ns,
          .low_ns = ns * std::exp(-1.6449 * deviation),
          .high_ns = ns * std::exp(1.6449 * deviation),
          .provenance = Provenance::imported,
          .origin = "table"};
}

Evaluation step(std::int64_t batch, const std::vector<OperatorShare>& operators) {
  Evaluation out;
  out.configuration.model = "m";
  out.configuration.workload = {.phase = Phase::decode, .batch = batch};
  Estimate& e = out.estimate.emplace();
  e.provenance = Provenance::imported;
  e.operators = operators;
  for (const OperatorShare& o : operators) e.step_ns += o.ns;
  e.low_ns = e.high_ns = e.step_ns;
  e.tokens_per_s = 1e9 / e.step_ns;
  return out;
}

RunReport report_of(std::vector<Evaluation> evaluations) {
  RunReport out;
  out.objectives = {"latency"};
  out.evaluations = std::move(evaluations);
  out.front = {{.evaluation = 0}};
  return out;
}

// Two kernels of one operator have two thirds of their variance in common: the difference of their
// logarithms deviates by sqrt(2 / 3) of one's, and P(better) is Phi(-1) where it is that.
TEST(Rival, is_better_as_often_as_its_own_part_of_the_interval_says) {
  const double ratio = std::exp(0.1 * std::sqrt(2.0 / 3));
  RunReport report =
      report_of({step(1, {times("mlp", 100, 0.1)}), step(2, {times("mlp", 100 * ratio, 0.1)})});
  add_rivals(report);
  ASSERT_THAT(report.rivals, SizeIs(1));
  const Rival& rival = report.rivals.front();
  EXPECT_EQ(rival.chosen.workload.batch, 1);
  EXPECT_EQ(rival.rival.workload.batch, 2);
  EXPECT_NEAR(rival.behind, ratio - 1, 1e-12);
  EXPECT_NEAR(rival.probability.value(), 0.159, 0.07);
  EXPECT_FALSE(rival.deciding_s);
  EXPECT_FALSE(rival.is_measured);
}

// What both execute errs alike: the one with an operator more is never faster.
TEST(Rival, kernels_of_both_say_nothing_of_the_difference) {
  RunReport report = report_of(
      {step(1, {times("mlp", 100, 0.3)}), step(2, {times("mlp", 100, 0.3), times("sum", 1, 0)})});
  add_rivals(report);
  ASSERT_THAT(report.rivals, SizeIs(1));
  EXPECT_EQ(report.rivals.front().probability, 0.0);
}

TEST(Rival, has_no_probability_where_nothing_states_an_interval) {
  RunReport report = report_of({step(1, {times("mlp", 100, 0)}), step(2, {times("mlp", 130, 0)}),
                                step(4, {times("mlp", 110, 0)})});
  add_rivals(report);
  ASSERT_THAT(report.rivals, SizeIs(1));
  EXPECT_EQ(report.rivals.front().rival.workload.batch, 4) << "the nearest";
  EXPECT_NEAR(report.rivals.front().behind, 0.1, 1e-12);
  EXPECT_FALSE(report.rivals.front().probability);
}

// A bound below a measured time is no faster configuration.
TEST(Rival, a_bound_is_no_rival_of_a_time) {
  RunReport report = report_of({step(1, {times("mlp", 100, 0.1)}), step(2, {times("mlp", 50, 0)})});
  report.evaluations[1].estimate->provenance = Provenance::roofline;
  add_rivals(report);
  EXPECT_THAT(report.rivals, IsEmpty());
}

ServedPoint point(std::int64_t batch, double per_device, double factor) {
  ServedPoint out;
  out.configuration.model = "m";
  out.configuration.workload.batch = batch;
  ServedEstimate& e = out.estimate;
  e.has_interval = factor > 1;
  for (ServingFigures* f : {&e.figures, &e.fast, &e.slow}) {
    f->tpot_ns = 1e7;
  }
  e.figures.tokens_per_s_per_device = per_device;
  e.fast.tokens_per_s_per_device = per_device * factor;
  e.slow.tokens_per_s_per_device = per_device / factor;
  return out;
}

// Two thirds of the variance are common to all points, so 100 against 90 within 20 % each way is
// less sure than intervals apart say, and surer than a coin.
TEST(Rival, of_requests_is_compared_by_what_was_chosen_by) {
  ServedReport report;
  report.objectives = {Objective::ttft};
  report.front = {point(1, 90, 1.2), point(2, 100, 1.2), point(4, 40, 1.2)};
  report.chosen = Pick{.index = 1};
  add_rival(report, "");
  ASSERT_TRUE(report.rival);
  EXPECT_EQ(report.rival->objective, Objective::tokens_per_s_per_device);
  EXPECT_EQ(report.rival->chosen.workload.batch, 2);
  EXPECT_EQ(report.rival->rival.workload.batch, 1);
  EXPECT_NEAR(report.rival->behind, 100.0 / 90 - 1, 1e-12);
  // Deviation of each: ln 1.2 / 1.645; of the difference: sqrt(2 / 3) of it.
  const double z = std::log(100.0 / 90) / (std::sqrt(2.0 / 3) * std::log(1.2) / 1.6449);
  EXPECT_NEAR(report.rival->probability.value(), 0.5 * std::erfc(z / std::sqrt(2.0)), 0.07);
  report.rival.reset();
  add_rival(report, "knee");
  EXPECT_FALSE(report.rival);
}

}  // namespace
}  // namespace halmark::tune
