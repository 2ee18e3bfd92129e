// The score against the published formula and its published fixed points.
#include "roofline/score.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace halmark {
namespace {

TEST(Score, is_a_half_at_the_baseline_and_one_at_the_bound) {
  EXPECT_DOUBLE_EQ(*speed_of_light_score(80, 20, 80), 0.5);
  EXPECT_DOUBLE_EQ(*speed_of_light_score(20, 20, 80), 1);
}

TEST(Score, is_the_published_formula_between_them) {
  for (const double t : {21.0, 40.0, 79.0, 81.0, 400.0, 1e9}) {
    EXPECT_NEAR(*speed_of_light_score(t, 20, 80), 1 / (1 + (t - 20) / (80 - 20)), 1e-12) << t;
  }
}

TEST(Score, is_not_clamped_below_the_bound) { EXPECT_GT(*speed_of_light_score(10, 20, 80), 1); }

TEST(Score, of_a_baseline_at_the_bound_is_all_or_nothing) {
  EXPECT_EQ(*speed_of_light_score(20, 20, 20), 1);
  EXPECT_EQ(*speed_of_light_score(21, 20, 20), 0);
  EXPECT_EQ(*speed_of_light_score(19, 20, 10), 1);
}

TEST(Score, is_absent_without_one_of_its_times) {
  for (const auto& [t, bound, baseline] :
       {std::tuple{0.0, 20, 80}, {30.0, 0, 80}, {30.0, 20, 0}, {std::nan(""), 20, 80}}) {
    EXPECT_FALSE(speed_of_light_score(t, bound, baseline)) << t;
  }
}

}  // namespace
}  // namespace halmark
