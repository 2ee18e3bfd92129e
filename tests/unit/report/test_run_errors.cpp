// Two errors of two names over the points that were run.
#include <gmock/gmock.h>

#include "report/report.hpp"
#include "report/sentences.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

// Runs of 100 ns with these sums of their kernels; twice as much had been printed.
std::vector<Validation> rows(std::initializer_list<double> composed) {
  std::vector<Validation> out;
  for (const double ns : composed) {
    out.push_back(
        {.deployment_key = "d",
         .predicted_ns = 2 * ns,
         .measured_ns = 100,
         .composition = Composition{.composed_ns = ns, .error = ns / 100 - 1, .pairs = 5}});
  }
  return out;
}

std::string composition_text(std::vector<Validation> validations) {
  RunReport report;
  report.validations = std::move(validations);
  return report::composition_text(report);
}

TEST(RunErrors, are_median_and_worst_distance_whatever_the_sign) {
  const ErrorOverPoints error = composition_errors(rows({102, 96, 101, 92, 103}));
  EXPECT_EQ(error.points, 5);
  EXPECT_EQ(error.left_out, 0);
  EXPECT_NEAR(error.median.value(), 0.03, 1e-12);
  EXPECT_NEAR(error.worst.value(), 0.08, 1e-12);
  EXPECT_EQ(report::composition_verdict(error), "within");
}

TEST(RunErrors, of_composition_and_prediction_never_mix) {
  std::vector<Validation> all = rows({100, 100, 100, 100});
  all[0].predicted_ns.reset();
  all[1].composition.reset();
  EXPECT_EQ(composition_errors(all).worst.value(), 0);
  EXPECT_EQ(prediction_errors(all).worst.value(), 1);
  EXPECT_EQ(composition_errors(all).left_out, 1);
  EXPECT_EQ(prediction_errors(all).left_out, 1);
}

TEST(RunErrors, points_that_did_not_pass_the_gate_are_counted_apart) {
  std::vector<Validation> all = rows({102, 96, 101, 92, 103, 300, 300, 300});
  all[5].status = Status::invalid;
  all[6].status = Status::timed_out;
  all[7].measured_ns = 0;
  const ErrorOverPoints error = composition_errors(all);
  EXPECT_EQ(error.points, 5);
  EXPECT_EQ(error.left_out, 3);
  EXPECT_NEAR(error.worst.value(), 0.08, 1e-12);
  EXPECT_THAT(composition_text(all), HasSubstr("left out: 3"));
}

// A run of this long at this speed of the memory, of which 100 ns had been said for 40 GB/s: all of
// them wait for the memory, give or take a tenth.
Validation run_at(double measured_ns, double bytes_per_s) {
  Validation out{.deployment_key = "d", .predicted_ns = 100, .measured_ns = measured_ns};
  out.predicted_state =
      StateInterval{.state = {40e9, {}}, .step_ns = 100, .memory_ns = 100, .ns = {90, 110}};
  out.composition = Composition{.composed_ns = measured_ns, .pairs = 5, .bytes_per_s = bytes_per_s};
  return out;
}

TEST(IntervalCoverage, tells_runs_in_the_named_state_from_those_in_others) {
  const IntervalCoverage c = interval_coverage(
      {run_at(95, 40e9), run_at(120, 42e9), run_at(165, 20e9), run_at(105, 20.5e9)});
  EXPECT_EQ(c.named.runs, 2);
  EXPECT_EQ(c.named.inside, 1);
  EXPECT_NEAR(c.named.half_width.value(), 0.1, 1e-12);
  EXPECT_EQ(c.scaled.runs, 2);
  EXPECT_EQ(c.scaled.inside, 1);  // 121 .. 179 at half the speed
  EXPECT_EQ(c.states, 2);
}

TEST(IntervalCoverage, counts_a_state_that_comes_back_again) {
  EXPECT_EQ(interval_coverage({run_at(95, 40e9), run_at(95, 43e9)}).states, 1);
  EXPECT_EQ(interval_coverage({run_at(95, 40e9), run_at(95, 45e9)}).states, 2);
  EXPECT_EQ(interval_coverage({run_at(95, 40e9), run_at(95, 20e9), run_at(95, 40e9)}).states, 3);
}

TEST(IntervalCoverage, leaves_out_runs_without_a_state_and_runs_that_failed) {
  Validation unknown = run_at(95, 40e9);
  unknown.composition->bytes_per_s.reset();
  Validation unnamed = run_at(95, 40e9);
  unnamed.predicted_state.reset();
  Validation failed = run_at(95, 40e9);
  failed.status = Status::timed_out;
  const IntervalCoverage c = interval_coverage({unknown, unnamed, failed});
  EXPECT_EQ(c.named.runs + c.scaled.runs, 0);
  EXPECT_EQ(c.states, 0);
  RunReport report;
  report.validations = {unknown, unnamed, failed};
  EXPECT_EQ(report::coverage_text(report), "");
}

TEST(IntervalCoverage, is_said_in_words_and_called_so_from_six_states_on) {
  RunReport report;
  report.validations = {run_at(95, 40e9), run_at(165, 20e9)};
  EXPECT_EQ(report::coverage_text(report),
            "intervals: 2 of 2 runs lie inside (1 of 1 in the state of the memory that they name, "
            "half-width 10.0 %; 1 of 1 in another, scaled for it, half-width 19.4 %); no coverage: "
            "2 of 6 states were met");
  for (int i = 0; i < 2; ++i) {
    report.validations.push_back(run_at(95, 40e9));
    report.validations.push_back(run_at(165, 20e9));
  }
  EXPECT_THAT(report::coverage_text(report), testing::EndsWith("half-width 19.4 %)"));
}

}  // namespace
}  // namespace halmark
