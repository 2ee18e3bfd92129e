#include <gtest/gtest.h>

#include "report/front_view.hpp"
#include "report/report.hpp"

namespace halmark {
namespace {

std::vector<Validation> rows(std::initializer_list<double> predicted) {
  std::vector<Validation> out;
  for (const double ns : predicted) {
    out.push_back({.deployment_key = "d", .predicted_ns = ns, .measured_ns = 100});
  }
  return out;
}

TEST(composition_error, is_the_median_and_worst_distance_whatever_the_sign) {
  const CompositionError error = composition_error(rows({102, 96, 101, 92, 103}));
  EXPECT_EQ(error.points, 5);
  EXPECT_NEAR(error.median.value(), 0.03, 1e-12);
  EXPECT_NEAR(error.worst.value(), 0.08, 1e-12);
  EXPECT_EQ(report::composition_verdict(error), "within");
}

TEST(composition_error, fewer_than_five_points_are_undecided) {
  const CompositionError error = composition_error(rows({102, 96, 101, 92}));
  EXPECT_EQ(error.points, 4);
  EXPECT_FALSE(error.median.has_value());
  EXPECT_EQ(report::composition_verdict(error), "UNDECIDED");
}

TEST(composition_error, points_that_did_not_pass_the_gate_do_not_count) {
  std::vector<Validation> all = rows({102, 96, 101, 92, 103, 300, 300, 300});
  all[5].status = Status::invalid;
  all[6].status = Status::timed_out;
  all[7].measured_ns = 0;
  const CompositionError error = composition_error(all);
  EXPECT_EQ(error.points, 5);
  EXPECT_NEAR(error.worst.value(), 0.08, 1e-12);
}

TEST(composition_error, one_point_beyond_fifteen_percent_exceeds) {
  EXPECT_EQ(report::composition_verdict(composition_error(rows({100, 100, 100, 100, 116}))),
            "exceeded");
  EXPECT_EQ(report::composition_verdict(composition_error(rows({106, 106, 106, 106, 106}))),
            "exceeded");
}

}  // namespace
}  // namespace halmark
