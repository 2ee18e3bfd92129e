#include "latency/interpolation/line_regression.hpp"

#include <random>

#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using LinePoint = LineRegression::Point;

// Along a line linear in log2(size + 1): 1, 3 and 15 lie at 1, 2 and 4.
TEST(LineRegression, a_line_with_points_goes_through_them_and_ends_as_it_ends) {
  const std::vector<double> here = {0};
  const LineRegression of(
      std::vector<LinePoint>{{0, here, 15, 6}, {0, here, 1, 1}, {0, here, 3, 2}});
  const auto share = [&](double size) { return of.at(0, here, size)->share; };
  EXPECT_DOUBLE_EQ(share(3), 2);
  EXPECT_DOUBLE_EQ(share(7), 4) << "half way between 3 and 15";
  EXPECT_DOUBLE_EQ(share(0), 1);
  EXPECT_DOUBLE_EQ(share(1000), 6);
  EXPECT_EQ(of.at(0, here, 7)->distance, 0);
}

// What is the same everywhere is that everywhere; the ridge holds slopes alone.
TEST(LineRegression, across_lines_a_constant_is_exact_and_a_slope_nearly) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(-2, 2);
  std::vector<std::vector<double>> at(40, std::vector<double>(2));
  std::vector<LinePoint> flat, tilted;
  for (std::int32_t line = 0; line < 40; ++line) {
    auto& where = at[static_cast<std::size_t>(line)];
    where = {place(random), place(random)};
    for (const double size : {1, 100}) {
      flat.push_back({line, where, size, 0.7});
      tilted.push_back({line, where, size, 0.3 * where[0] - 0.1 * where[1]});
    }
  }
  const LineRegression constant(flat), slope(tilted);
  for (int i = 0; i < 20; ++i) {
    const std::vector<double> asked = {place(random) / 2, place(random) / 2};
    EXPECT_NEAR(constant.at({}, asked, 10)->share, 0.7, 1e-12);
    EXPECT_NEAR(slope.at({}, asked, 10)->share, 0.3 * asked[0] - 0.1 * asked[1], 0.05);
    double nearest = 1e9;
    for (const auto& line : at) {
      nearest = std::min(nearest, std::hypot(line[0] - asked[0], line[1] - asked[1]));
    }
    EXPECT_DOUBLE_EQ(slope.at({}, asked, 10)->distance, nearest);
  }
}

TEST(LineRegression, without_any_line_there_is_nothing) {
  EXPECT_FALSE(LineRegression({}).at({}, {}, 1));
  const std::vector<double> here = {0}, near = {0.1};
  const LineRegression one(std::vector<LinePoint>{{0, here, 8, 5}});
  EXPECT_FALSE(one.at({}, near, 100)) << "a single row says nothing of other sizes";
  EXPECT_FALSE(one.at(0, here, 100));
  EXPECT_DOUBLE_EQ(one.at({}, near, 8)->share, 5);
}

}  // namespace
}  // namespace halmark
