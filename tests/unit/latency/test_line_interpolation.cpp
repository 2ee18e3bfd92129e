#include "latency/interpolation/line_interpolation.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

// Given out of order; two lines.
const std::vector<LineInterpolation::Point> points = {
    {0, 30, 600}, {0, 10, 100}, {1, 10, 7}, {0, 20, 300}, {1, 40, 10}};

TEST(LineInterpolation, is_linear_between_its_neighbours) {
  const LineInterpolation of(points);
  EXPECT_DOUBLE_EQ(of.at(0, 10)->ns, 100);
  EXPECT_DOUBLE_EQ(of.at(0, 12.5)->ns, 150);
  EXPECT_DOUBLE_EQ(of.at(0, 25)->ns, 450);
  EXPECT_DOUBLE_EQ(of.at(1, 20)->ns, 8);
  EXPECT_DOUBLE_EQ(of.at(1, 20)->octaves, 2);
  EXPECT_DOUBLE_EQ(of.at(0, 20)->octaves, 0);
}

TEST(LineInterpolation, a_left_out_point_is_predicted_from_the_others) {
  const LineInterpolation of(points);
  EXPECT_DOUBLE_EQ(of.at(0, 20, 3)->ns, 350);
  EXPECT_FALSE(of.at(0, 10, 1)) << "nothing lies below it";
  EXPECT_FALSE(of.at(0, 30, 0));
}

TEST(LineInterpolation, nothing_outside_of_the_ends_and_of_no_line) {
  const LineInterpolation of(points);
  EXPECT_FALSE(of.at(0, 9.9));
  EXPECT_FALSE(of.at(0, 30.1));
  EXPECT_FALSE(of.at(1, 9));
  EXPECT_FALSE(of.at(2, 20));
  EXPECT_FALSE(LineInterpolation({}).at(0, 1));
}

// Two rows of one problem: the other one still knows it.
TEST(LineInterpolation, of_a_problem_that_is_there_twice_the_other_row_is_known) {
  const LineInterpolation of({{0, 10, 100}, {0, 10, 120}, {0, 20, 200}});
  EXPECT_DOUBLE_EQ(of.at(0, 10, 0)->ns, 120);
  EXPECT_DOUBLE_EQ(of.at(0, 10, 1)->ns, 100);
}

}  // namespace
}  // namespace halmark
