// Crowding distances by hand (Deb et al. 2002), and rivals by every way the truth may lie.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/numeric/random.hpp"
#include "search/pareto/front_certainty.hpp"
#include "search/pareto/pareto.hpp"

namespace halmark {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Crowding, is_the_sum_of_relative_gaps_between_neighbours_and_infinite_at_the_ends) {
  const std::vector<Objectives> points{{6, 3}, {0, 10}, {10, 0}, {1, 5}};
  const std::vector<int> ranks(4, 0);
  const std::vector<double> distance = crowding_distances(points, ranks);
  EXPECT_DOUBLE_EQ(distance[0], (10 - 1) / 10.0 + (5 - 0) / 10.0);
  EXPECT_EQ(distance[1], inf);
  EXPECT_EQ(distance[2], inf);
  EXPECT_DOUBLE_EQ(distance[3], (6 - 0) / 10.0 + (10 - 3) / 10.0);
}

TEST(Crowding, looks_at_each_rank_alone) {
  const std::vector<Objectives> points{{0, 4}, {1, 1}, {4, 0}, {2, 6}, {3, 5}, {6, 2}, {5, 4}};
  const std::vector<int> ranks{0, 0, 0, 1, 1, 1, 1};
  const std::vector<double> distance = crowding_distances(points, ranks);
  EXPECT_DOUBLE_EQ(distance[1], 2);
  EXPECT_DOUBLE_EQ(distance[4], (5 - 2) / 4.0 + (6 - 4) / 4.0);
  EXPECT_DOUBLE_EQ(distance[6], (6 - 3) / 4.0 + (5 - 2) / 4.0);
  for (const std::size_t end : {0u, 2u, 3u, 5u}) EXPECT_EQ(distance[end], inf) << end;
}

TEST(Crowding, an_objective_without_extent_adds_nothing) {
  const std::vector<Objectives> points{{0, 7, 4}, {1, 7, 2}, {4, 7, 0}};
  EXPECT_DOUBLE_EQ(crowding_distances(points, std::vector<int>(3, 0))[1], 2);
  EXPECT_TRUE(crowding_distances({}, {}).empty());
}

// A factor of two to a power rounds nothing: in any unit the same points stand in the same order.
TEST(Crowding, and_hypervolumes_depend_on_no_unit) {
  const std::vector<Objectives> points{{6, 3, 1}, {0, 10, 2}, {10, 0, 3}, {1, 5, 4}, {3, 4, 5}};
  const double unit = std::exp2(-80);
  std::vector<Objectives> small = points;
  for (Objectives& p : small) {
    for (double& x : p) x *= unit;
  }
  EXPECT_EQ(crowding_distances(small, std::vector<int>(5, 0)),
            crowding_distances(points, std::vector<int>(5, 0)));
  EXPECT_EQ(non_dominated_ranks(small), non_dominated_ranks(points));
  const Objectives reference{11, 11, 11};
  const Objectives small_reference{11 * unit, 11 * unit, 11 * unit};
  EXPECT_EQ(hypervolume(small, small_reference),
            hypervolume(points, reference) * unit * unit * unit);
}

// A rival may dominate it in some corner of both boxes, and does not lose to it in every corner.
TEST(Rivals, are_those_that_may_win_and_do_not_surely_lose) {
  std::uint64_t counter = 0;
  const auto draw = [&] { return static_cast<double>(uniform_below(hash_u64(3, counter++), 5)); };
  std::size_t found = 0;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<Objectives> low, high;
    for (int i = 0; i < 3; ++i) {
      low.push_back({draw(), draw()});
      high.push_back({low.back()[0] + draw() / 2, low.back()[1] + draw() / 2});
    }
    for (std::size_t i = 0; i < 3; ++i) {
      std::vector<std::size_t> expected;
      for (std::size_t j = 0; j < 3; ++j) {
        if (i == j) continue;
        bool may_reach = false, always_loses = true;
        for (int corner = 0; corner < 16; ++corner) {
          const Objectives a{(corner & 1 ? high : low)[i][0], (corner & 2 ? high : low)[i][1]};
          const Objectives b{(corner & 4 ? high : low)[j][0], (corner & 8 ? high : low)[j][1]};
          may_reach |= b[0] <= a[0] && b[1] <= a[1];
          always_loses &= a[0] <= b[0] && a[1] <= b[1] && a != b;
        }
        if (may_reach && !always_loses) expected.push_back(j);
      }
      EXPECT_EQ(rivals(i, low, high), expected) << trial;
      found += expected.size();
    }
  }
  EXPECT_GT(found, 300u);
}

}  // namespace
}  // namespace halmark
