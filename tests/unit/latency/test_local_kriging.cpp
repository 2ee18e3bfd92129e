#include "latency/local_kriging.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace halmark {
namespace {

using Point = LocalKriging::Point;

std::vector<Point> grid(double (*f)(double, double)) {
  std::vector<Point> out;
  for (int i = 0; i <= 20; ++i) {
    for (int j = 0; j <= 20; ++j) {
      const double x = i * 0.3, y = j * 0.3;
      out.push_back({{x, y}, f(x, y), i});
    }
  }
  return out;
}

TEST(LocalKriging, a_constant_is_predicted_exactly) {
  const LocalKriging kriging(grid([](double, double) { return 3.5; }));
  EXPECT_NEAR(kriging.at(std::vector{1.234, 4.321})->value, 3.5, 1e-9);
}

TEST(LocalKriging, a_smooth_surface_is_followed_between_its_points) {
  const auto f = [](double x, double y) { return std::sin(x) + 0.5 * std::cos(0.7 * y); };
  const LocalKriging kriging(grid(f));
  for (double x = 0.5; x < 5.5; x += 0.37) {
    for (double y = 0.5; y < 5.5; y += 0.41) {
      EXPECT_NEAR(kriging.at(std::vector{x, y})->value, f(x, y), 0.02);
    }
  }
}

// The weights of two points at distance d, seen from the first: with ordinary kriging they are
// (1 +- (1 - c) / (1 + nugget - c)) / 2, c = (1 + sqrt3 d) exp(-sqrt3 d).
TEST(LocalKriging, two_points_by_hand) {
  const LocalKriging kriging(std::vector<Point>{{{0.0}, 1, 0}, {{1.0}, 0, 0}});
  const double c = (1 + std::sqrt(3.0)) * std::exp(-std::sqrt(3.0));
  EXPECT_NEAR(kriging.at(std::vector{0.0})->value, (1 + (1 - c) / (1.01 - c)) / 2, 1e-12);
}

TEST(LocalKriging, nearest_points_are_those_of_a_full_scan) {
  std::vector<Point> points;
  std::uint64_t state = 1;
  const auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 40) / static_cast<double>(1 << 24) * 10;
  };
  for (int i = 0; i < 500; ++i) points.push_back({{next(), next(), next()}, next(), 0});
  const LocalKriging kriging(points);
  for (int i = 0; i < 50; ++i) {
    const std::vector<double> place{next(), next(), next()};
    double nearest = 1e9;
    for (const Point& p : points) {
      double sum = 0;
      for (std::size_t d = 0; d < 3; ++d) sum += std::pow(p.at[d] - place[d], 2);
      nearest = std::min(nearest, std::sqrt(sum));
    }
    EXPECT_DOUBLE_EQ(kriging.at(place)->distance, nearest);
  }
}

TEST(LocalKriging, what_is_left_out_is_not_used) {
  const LocalKriging kriging(grid([](double x, double) { return x; }));
  const std::vector<double> place{3.0, 3.0};  // row 10, known
  EXPECT_EQ(kriging.at(place)->distance, 0);
  EXPECT_NEAR(kriging.at(place, {.point = 10 * 21 + 10})->distance, 0.3, 1e-12);
  EXPECT_NEAR(kriging.at(place, {.shape = 10})->distance, 0.3, 1e-12);
  EXPECT_GE(kriging.at(place, {.nearer_than = 1.0})->distance, 1.0);
}

TEST(LocalKriging, doubt_grows_with_distance) {
  const LocalKriging kriging(grid([](double x, double y) { return std::sin(x * y); }));
  const double inside = kriging.at(std::vector{3.1, 3.1})->deviation;
  EXPECT_GT(kriging.at(std::vector{9.0, 9.0})->deviation, 2 * inside);
}

TEST(LocalKriging, one_point_predicts_nothing) {
  const LocalKriging kriging(std::vector<Point>{{{0.0}, 1, 0}});
  EXPECT_FALSE(kriging.at(std::vector{0.0}));
}

}  // namespace
}  // namespace halmark
