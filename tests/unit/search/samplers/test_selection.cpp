// Which points a population keeps, against the definitions counted out.
#include "search/samplers/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/numeric/random.hpp"

namespace halmark {
namespace {

std::vector<Objectives> random_points(std::size_t count, std::size_t dims, std::uint64_t seed) {
  std::vector<Objectives> out(count, Objectives(dims));
  std::uint64_t counter = 0;
  for (Objectives& p : out) {
    for (double& x : p) x = uniform_01(hash_u64(seed, counter++));
  }
  return out;
}

TEST(ReferenceBeyond, is_a_tenth_of_the_extent_behind_the_worst) {
  const std::vector<Objectives> points{{0, 5}, {10, 5}, {4, 5}};
  EXPECT_EQ(reference_beyond(points), (Objectives{11, 6}));
  EXPECT_EQ(reference_beyond(std::vector<Objectives>{{-3}, {-1}}), (Objectives{-0.8}));
}

// Rank by rank; within a rank always a point that adds most to what was taken of it.
void expect_greedy(const std::vector<Objectives>& points, const std::vector<std::size_t>& taken) {
  const std::vector<int> ranks = non_dominated_ranks(points);
  for (std::size_t n = 0; n < taken.size(); ++n) {
    const int rank = ranks[taken[n]];
    std::vector<Objectives> members, before;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool is_before = std::find(taken.begin(), taken.begin() + static_cast<long>(n), i) !=
                             taken.begin() + static_cast<long>(n);
      if (ranks[i] == rank) members.push_back(points[i]);
      if (ranks[i] == rank && is_before) before.push_back(points[i]);
      EXPECT_TRUE(ranks[i] >= rank || is_before) << "a better rank is left";
    }
    const Objectives reference = reference_beyond(members);
    const auto volume_with = [&](const Objectives& p) {
      std::vector<Objectives> all = before;
      all.push_back(p);
      return hypervolume(all, reference);
    };
    const double chosen = volume_with(points[taken[n]]);
    for (const Objectives& p : members) EXPECT_LE(volume_with(p), chosen * (1 + 1e-12));
  }
}

TEST(BestPoints, takes_the_largest_gain_of_hypervolume_of_each_rank_first) {
  for (const std::size_t dims : {1u, 2u, 3u}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto points = random_points(25, dims, 100 * dims + seed);
      for (const std::size_t count : {1u, 7u, 25u}) {
        const std::vector<std::size_t> taken = best_points(points, count);
        EXPECT_EQ(taken.size(), count);
        EXPECT_EQ(std::set<std::size_t>(taken.begin(), taken.end()).size(), count);
        expect_greedy(points, taken);
      }
    }
  }
}

TEST(BestPoints, takes_by_crowding_above_three_objectives) {
  // All of one rank; the ends of each objective first, then by the sum of relative gaps.
  const std::vector<Objectives> points{{0, 10, 0, 10}, {1, 5, 1, 5}, {6, 3, 6, 3}, {10, 0, 10, 0}};
  EXPECT_EQ(best_points(points, 3), (std::vector<std::size_t>{0, 3, 2}));
  EXPECT_EQ(best_points(points, 4), (std::vector<std::size_t>{0, 3, 2, 1}));
}

TEST(BestPoints, gives_no_more_than_there_are) {
  EXPECT_EQ(best_points(random_points(4, 2, 1), 9).size(), 4u);
  EXPECT_TRUE(best_points({}, 3).empty());
}

}  // namespace
}  // namespace halmark
