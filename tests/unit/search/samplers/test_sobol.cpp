// The Sobol sequence is a (0, 2)-net in base 2, scrambled or not: of its first 256 points in two
// dimensions each of 16 x 16 cells holds one, and each of 256 strips along either axis.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sample_spaces.hpp"
#include "search/samplers/sobol_sequence.hpp"

namespace halmark {
namespace {

using namespace test;

TEST(SobolSequence, first_points_fill_every_elementary_interval_once) {
  for (const std::uint64_t seed : {0u, 1u, 77u}) {
    SobolSequence sequence(2, seed);
    std::vector<std::pair<double, double>> points;
    for (std::uint64_t i = 0; i < 256; ++i) {
      const auto p = sequence.at(i);
      ASSERT_GE(std::min(p[0], p[1]), 0);
      ASSERT_LT(std::max(p[0], p[1]), 1);
      points.emplace_back(p[0], p[1]);
    }
    for (const int columns : {1, 2, 4, 8, 16, 32, 64, 128, 256}) {
      std::set<std::pair<int, int>> cells;
      for (const auto& [x, y] : points) {
        cells.emplace(static_cast<int>(x * columns), static_cast<int>(y * (256 / columns)));
      }
      EXPECT_EQ(cells.size(), 256u) << columns << " columns, seed " << seed;
    }
  }
}

TEST(SobolSequence, goes_back_and_depends_on_its_seed) {
  SobolSequence a(3, 5), b(3, 6);
  const auto copy = [](std::span<const double> p) {
    return std::vector<double>(p.begin(), p.end());
  };
  const auto first = copy(a.at(0)), ninth = copy(a.at(9));
  EXPECT_EQ(copy(a.at(0)), first);
  EXPECT_EQ(copy(a.at(9)), ninth);
  EXPECT_NE(copy(b.at(9)), ninth);
}

TEST(Sobol, of_a_square_of_levels_visits_each_cell_once_before_it_ends) {
  const Space space({levels("a", 16), levels("b", 16)}, {});
  const std::vector<Point> points = make_sampler("sobol", space, 4)->ask(256);
  EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), 256u);
  // 16 points, one in each row and in each column.
  std::set<double> rows, columns;
  for (std::size_t i = 0; i < 16; ++i) {
    rows.insert(points[i][0]);
    columns.insert(points[i][1]);
  }
  EXPECT_EQ(rows.size(), 16u);
  EXPECT_EQ(columns.size(), 16u);
}

TEST(Sobol, maps_to_valid_points_by_rank_so_that_each_constraint_class_gets_its_share) {
  // 64 of a = 0 and 8 of each other a: eight ninths lie in two thirteenths of the square.
  const Space space({levels("a", 4), levels("b", 64)},
                    {{"narrow", {"a", "b"}, [](const Point& p) { return p[0] == 0 || p[1] < 8; }}});
  ASSERT_EQ(space.size(), 88u);
  std::size_t wide = 0;
  for (const Point& p : make_sampler("sobol", space, 4)->ask(44)) wide += p[0] == 0 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(wide), 32, 4);
}

}  // namespace
}  // namespace halmark
