#include "search/pareto/pareto.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/numeric/random.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark {
namespace {

// The definition, pair by pair.
bool is_better(const Objectives& a, const Objectives& b) {
  bool better = false;
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (a[d] > b[d]) return false;
    if (a[d] < b[d]) better = true;
  }
  return better;
}

std::vector<std::size_t> brute_force_front(const std::vector<Objectives>& points) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool dominated = false;
    for (const Objectives& other : points) dominated = dominated || is_better(other, points[i]);
    if (!dominated) out.push_back(i);
  }
  return out;
}

// Few distinct values, so that ties and equal points are common.
std::vector<Objectives> coarse_points(std::size_t count, std::size_t dims, std::uint64_t levels,
                                      std::uint64_t seed) {
  std::vector<Objectives> out(count, Objectives(dims));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t d = 0; d < dims; ++d) {
      out[i][d] = static_cast<double>(uniform_below(hash_u64(seed, i * dims + d), levels)) -
                  static_cast<double>(levels / 2);
    }
  }
  return out;
}

struct Case {
  std::size_t dims;
  std::uint64_t levels;
};
class Fronts : public testing::TestWithParam<Case> {};

TEST_P(Fronts, equal_brute_force_with_ties_and_duplicates) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto points = coarse_points(1 + seed * 5, GetParam().dims, GetParam().levels, seed);
    ASSERT_EQ(non_dominated(points), brute_force_front(points)) << "seed " << seed;
  }
}

TEST_P(Fronts, ranks_peel_one_front_after_the_other) {
  for (std::uint64_t seed = 50; seed < 55; ++seed) {
    const auto points = coarse_points(60, GetParam().dims, GetParam().levels, seed);
    const std::vector<int> ranks = non_dominated_ranks(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      int worst_dominator = -1;
      for (std::size_t j = 0; j < points.size(); ++j) {
        if (is_better(points[j], points[i])) worst_dominator = std::max(worst_dominator, ranks[j]);
      }
      ASSERT_EQ(ranks[i], worst_dominator + 1) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Fronts,
    testing::Values(Case{1, 5}, Case{2, 4}, Case{2, 1000}, Case{3, 3}, Case{3, 6}, Case{3, 1000},
                    Case{4, 3}, Case{4, 1000}),
    [](const auto& info) {
      return test::case_name({info.param.dims, "objectives", info.param.levels, "levels"});
    });

TEST(NonDominated, zeros_of_both_signs_are_equal) {
  const std::vector<Objectives> points{{0.0, 1}, {-0.0, 1}, {0.0, 2}};
  EXPECT_EQ(non_dominated(points), (std::vector<std::size_t>{0, 1}));
  EXPECT_FALSE(dominates(points[0], points[1]));
}

TEST(NonDominated, no_points_have_no_front) {
  EXPECT_TRUE(non_dominated({}).empty());
  EXPECT_TRUE(non_dominated_ranks({}).empty());
  EXPECT_EQ(hypervolume({}, Objectives{1, 1}), 0);
}

TEST(Crowding, is_the_normalised_gap_of_the_neighbours) {
  const std::vector<Objectives> points{{0, 4}, {1, 2}, {3, 1}, {4, 0}, {9, 9}};
  const auto d = crowding_distances(points, non_dominated_ranks(points));
  constexpr double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(d[0], inf);
  EXPECT_EQ(d[3], inf);
  EXPECT_DOUBLE_EQ(d[1], 3.0 / 4 + 3.0 / 4);
  EXPECT_DOUBLE_EQ(d[2], 3.0 / 4 + 2.0 / 4);
  EXPECT_EQ(d[4], inf) << "alone in its rank";
}

TEST(Hypervolume, of_boxes_is_known) {
  EXPECT_DOUBLE_EQ(hypervolume(std::vector<Objectives>{{2}}, Objectives{5}), 3);
  EXPECT_DOUBLE_EQ(hypervolume(std::vector<Objectives>{{1, 2}}, Objectives{4, 4}), 6);
  EXPECT_DOUBLE_EQ(hypervolume(std::vector<Objectives>{{0, 2}, {1, 1}, {2, 0}}, Objectives{3, 3}),
                   6);
  EXPECT_DOUBLE_EQ(
      hypervolume(std::vector<Objectives>{{0, 0, 1}, {0, 1, 0}, {1, 0, 0}}, Objectives{2, 2, 2}),
      7);
  EXPECT_DOUBLE_EQ(
      hypervolume(std::vector<Objectives>{{0, 0, 0, 1}, {1, 0, 0, 0}}, Objectives{2, 2, 2, 2}), 12);
}

TEST(Hypervolume, of_a_staircase_is_a_sum) {
  std::vector<Objectives> points;
  const int n = 100;
  for (int i = 0; i < n; ++i) points.push_back({double(i), double(n - 1 - i)});
  EXPECT_DOUBLE_EQ(hypervolume(points, Objectives{double(n), double(n)}), n * (n + 1) / 2.0);
}

TEST(Hypervolume, dominated_equal_and_outside_points_add_nothing) {
  const std::vector<Objectives> front{{0, 2, 1}, {1, 1, 1}, {2, 0, 0}};
  const Objectives reference{3, 3, 3};
  const double volume = hypervolume(front, reference);
  std::vector<Objectives> more = front;
  more.push_back({1, 1, 1});
  more.push_back({2, 2, 2});
  more.push_back({3, 0, 0});
  more.push_back({-5, 4, 0});
  EXPECT_DOUBLE_EQ(hypervolume(more, reference), volume);
  std::ranges::reverse(more);
  EXPECT_DOUBLE_EQ(hypervolume(more, reference), volume);
}

// Inclusion and exclusion over all subsets: another way to the same volume.
double by_inclusion_exclusion(const std::vector<Objectives>& points, const Objectives& reference) {
  double volume = 0;
  for (std::size_t subset = 1; subset < (std::size_t{1} << points.size()); ++subset) {
    Objectives corner(reference.size(), -std::numeric_limits<double>::infinity());
    int members = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if ((subset >> i & 1) == 0) continue;
      ++members;
      for (std::size_t d = 0; d < corner.size(); ++d) corner[d] = std::max(corner[d], points[i][d]);
    }
    double box = 1;
    for (std::size_t d = 0; d < corner.size(); ++d) box *= std::max(0.0, reference[d] - corner[d]);
    volume += members % 2 == 1 ? box : -box;
  }
  return volume;
}

TEST(Hypervolume, equals_inclusion_and_exclusion) {
  for (std::size_t dims = 2; dims <= 4; ++dims) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto points = coarse_points(9, dims, seed % 2 == 0 ? 5 : 1000, 100 * dims + seed);
      const Objectives reference(dims, seed % 2 == 0 ? 2 : 400);
      const double expected = by_inclusion_exclusion(points, reference);
      ASSERT_NEAR(hypervolume(points, reference), expected, 1e-9 * (1 + expected));
    }
  }
}

}  // namespace
}  // namespace halmark
