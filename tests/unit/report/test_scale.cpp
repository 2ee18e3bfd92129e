#include "report/charts/scale.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace halmark::report {
namespace {

using testing::Pointwise;

MATCHER(NearlyEqual, "") { return std::abs(std::get<0>(arg) / std::get<1>(arg) - 1) < 1e-9; }

TEST(log_ticks, are_one_two_five) {
  EXPECT_THAT(log_ticks(0.9, 110, 10),
              Pointwise(NearlyEqual(), {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0}));
}

TEST(log_ticks, are_decades_when_there_are_many) {
  EXPECT_THAT(log_ticks(1, 1e6, 8), Pointwise(NearlyEqual(), {1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6}));
}

TEST(log_ticks, are_even_steps_within_a_decade) {
  const std::vector<double> ticks = log_ticks(11, 14, 8);
  ASSERT_GE(ticks.size(), 3u);
  for (const double tick : ticks) EXPECT_TRUE(tick >= 11 && tick <= 14) << tick;
}

TEST(log_ticks, never_exceed_the_room) {
  for (double high = 1.05; high < 1e15; high *= 1.7) {
    EXPECT_LE(log_ticks(1, high, 9).size(), 9u) << high;
    EXPECT_GE(log_ticks(1, high, 9).size(), 2u) << high;
  }
}

TEST(log_scale, maps_ratios_to_distances_and_clamps) {
  const LogScale scale(1, 100, 0, 200);
  EXPECT_NEAR(scale.at(1), 0, 1e-9);
  EXPECT_NEAR(scale.at(10), 100, 1e-9);
  EXPECT_NEAR(scale.at(1e9), 200, 1e-9);
  EXPECT_NEAR(scale.at(0), 0, 1e-9);
}

TEST(padded_range, ignores_what_cannot_be_on_a_log_axis) {
  const Range range = padded_range({-1, 0, std::numeric_limits<double>::quiet_NaN(), 4, 8}, 2);
  EXPECT_NEAR(range.low, 2, 1e-12);
  EXPECT_NEAR(range.high, 16, 1e-12);
  EXPECT_LT(padded_range({}, 2).low, padded_range({}, 2).high);
  EXPECT_LT(padded_range({5}, 2).low, padded_range({5}, 2).high);
}

}  // namespace
}  // namespace halmark::report
