// Two errors of two names over the points that were run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/front_view.hpp"
#include "report/report.hpp"

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

TEST(RunErrors, fewer_than_three_points_are_undecided) {
  EXPECT_EQ(report::composition_verdict(composition_errors(rows({102, 96}))), "UNDECIDED");
  EXPECT_EQ(report::composition_verdict(composition_errors(rows({102, 96, 101}))), "within");
  EXPECT_THAT(composition_text(rows({102, 96})), HasSubstr("UNDECIDED (2 points"));
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

TEST(RunErrors, one_point_beyond_fifteen_percent_exceeds) {
  EXPECT_EQ(report::composition_verdict(composition_errors(rows({100, 100, 100, 100, 116}))),
            "exceeded");
  EXPECT_EQ(report::composition_verdict(composition_errors(rows({100, 100, 100, 100, 114}))),
            "within");
  EXPECT_EQ(report::composition_verdict(composition_errors(rows({106, 106, 106, 106, 106}))),
            "exceeded");
}

}  // namespace
}  // namespace halmark
