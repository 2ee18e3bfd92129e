#include "search/surrogate/improvement.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/numeric/random.hpp"
#include "search/proposer.hpp"
#include "search/samplers/selection.hpp"

namespace halmark {
namespace {

std::vector<Objectives> scattered(std::size_t count, std::size_t dims, std::uint64_t seed,
                                  std::uint64_t levels) {
  std::vector<Objectives> out(count, Objectives(dims));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t d = 0; d < dims; ++d) {
      out[i][d] = static_cast<double>(uniform_below(hash_u64(seed, i * dims + d), levels)) /
                  static_cast<double>(levels);
    }
  }
  return out;
}

// Dominated, equal and outside points included; few levels, so that ties are common.
TEST(OpenRegion, the_gain_of_a_point_is_the_difference_of_two_hypervolumes) {
  for (std::size_t dims = 1; dims <= 3; ++dims) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const auto points = scattered(1 + seed, dims, seed, seed % 2 == 0 ? 6 : 1000);
      const auto fresh = scattered(20, dims, seed + 1000, seed % 2 == 0 ? 6 : 1000);
      const Objectives reference(dims, 0.9);
      const OpenRegion open(points, reference);
      const double before = hypervolume(points, reference);
      for (const Objectives& p : fresh) {
        std::vector<Objectives> more = points;
        more.push_back(p);
        ASSERT_NEAR(open.gain(p), hypervolume(more, reference) - before, 1e-12)
            << dims << " objectives, seed " << seed;
      }
    }
  }
}

TEST(OpenRegion, of_nothing_is_everything_below_the_reference) {
  const OpenRegion open({}, Objectives{2, 3, 4});
  EXPECT_DOUBLE_EQ(open.gain(Objectives{1, 1, 1}), 6);
  EXPECT_EQ(open.gain(Objectives{2, 1, 1}), 0);
}

double drawn(const Belief& b, Stream& random) {
  Belief one = b;
  one.mean += b.deviation * random.normal();
  return one.median();
}

TEST(ExpectedImprovement, equals_the_mean_of_many_draws_on_every_curve) {
  using Curve = Belief::Curve;
  for (std::size_t dims = 1; dims <= 3; ++dims) {
    for (const Curve curve : {Curve::plain, Curve::exponent, Curve::negated}) {
      auto points = scattered(8, dims, 7 + dims, 1000);
      for (Objectives& p : points) {
        for (double& y : p) y += curve == Curve::negated ? -2.0 : 0.5;
      }
      const Objectives reference(dims, curve == Curve::negated ? -1.0 : 1.5);
      const OpenRegion open(points, reference);
      std::vector<Belief> beliefs;
      for (std::size_t m = 0; m < dims; ++m) {
        beliefs.push_back({.curve = curve,
                           .mean = curve == Curve::plain      ? 0.8
                                   : curve == Curve::exponent ? std::log(0.8)
                                                              : -std::log(1.6),
                           .deviation = 0.3});
      }
      Stream random(1, dims, static_cast<std::uint64_t>(curve));
      double sum = 0, squares = 0;
      constexpr int draws = 40000;
      for (int i = 0; i < draws; ++i) {
        Objectives p;
        for (const Belief& b : beliefs) p.push_back(drawn(b, random));
        const double gain = open.gain(p);
        sum += gain;
        squares += gain * gain;
      }
      const double mean = sum / draws;
      const double error = std::sqrt((squares / draws - mean * mean) / draws);
      EXPECT_NEAR(open.expected(beliefs), mean, 4 * error)
          << dims << " objectives, curve " << static_cast<int>(curve);
    }
  }
}

TEST(BestPoints, the_greedy_order_is_that_of_hypervolumes) {
  const auto all = scattered(60, 3, 11, 1000);
  const std::vector<std::size_t> front = non_dominated(all);
  std::vector<Objectives> points;
  for (const std::size_t i : front) points.push_back(all[i]);
  ASSERT_GT(points.size(), 8u);
  Objectives reference(3);
  for (std::size_t m = 0; m < 3; ++m) {
    double low = 1, high = 0;
    for (const Objectives& p : points) low = std::min(low, p[m]), high = std::max(high, p[m]);
    reference[m] = high + 0.1 * (high - low);
  }
  const std::vector<std::size_t> order = best_points(points, 8);
  std::vector<Objectives> taken;
  for (const std::size_t chosen : order) {
    double best = -1;
    for (const Objectives& p : points) {
      std::vector<Objectives> more = taken;
      more.push_back(p);
      best = std::max(best, hypervolume(more, reference));
    }
    taken.push_back(points[chosen]);
    EXPECT_NEAR(hypervolume(taken, reference), best, 1e-12);
  }
}

TEST(BestPoints, takes_rank_by_rank) {
  const std::vector<Objectives> points{{3, 3}, {1, 2}, {2, 1}, {2, 3}, {3, 2}};
  const auto three = best_points(points, 3);
  EXPECT_EQ(std::vector<std::size_t>(three.begin(), three.begin() + 2).size(), 2u);
  EXPECT_TRUE((three[0] == 1 && three[1] == 2) || (three[0] == 2 && three[1] == 1));
  EXPECT_TRUE(three[2] == 3 || three[2] == 4);
  EXPECT_EQ(best_points(points, 99).size(), 5u);
}

}  // namespace
}  // namespace halmark
