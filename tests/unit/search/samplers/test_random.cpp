// Uniform over the valid points, without replacement.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sample_spaces.hpp"

namespace halmark {
namespace {

using namespace test;

// 30 points, drawn first under 6,000 seeds: 200 each, +- 5 standard deviations of 14.
TEST(Random, draws_each_valid_point_equally_often) {
  const Space space = odd_space();
  std::map<Point, int> times;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    ++times[make_sampler("random", space, seed)->ask(1).front()];
  }
  EXPECT_EQ(times.size(), 30u);
  for (const auto& [point, count] : times) EXPECT_NEAR(count, 200, 70);
}

TEST(Random, ends_with_every_point_drawn_once_even_when_few_are_left) {
  const Space space = odd_space();
  const std::vector<Point> points = ask_all(*make_sampler("random", space, 2), 7);
  EXPECT_EQ(points.size(), 30u);
  EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), 30u);
}

}  // namespace
}  // namespace halmark
