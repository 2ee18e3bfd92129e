#include "core/numeric/cast.hpp"
#include "history/statistics/change_points.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <numbers>
#include <set>

#include "core/numeric/statistics.hpp"
#include "rows.hpp"

namespace halmark::history {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const DetectorRules rules;

std::vector<double> noisy(std::vector<double> levels, double sigma, std::uint64_t seed) {
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] += sigma * test::normal(seed, i);
  return levels;
}

std::vector<double> step(std::size_t before, std::size_t after, double size) {
  std::vector<double> out(before, 0.0);
  out.insert(out.end(), after, size);
  return out;
}

// mpmath: pooled t 14.6155 with 4 degrees of freedom.
TEST(ChangePoints, segments_are_compared_by_students_t) {
  const std::vector<double> a = {1.0, 1.1, 0.9, 1.05}, b = {2.0, 2.1};
  EXPECT_NEAR(segments_p(a, b) / 0.0001274865863655068303, 1, 1e-9);
  EXPECT_EQ(segments_p(std::vector{1.0}, std::vector{2.0}), 1);
}

TEST(ChangePoints, both_detectors_find_a_step_where_it_is) {
  int alone = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<double> y = noisy(step(30, 20, 0.06), 0.01, seed);
    EXPECT_THAT(energy_changes(y, rules), testing::Contains(30u)) << seed;
    EXPECT_THAT(step_changes(y, rules), testing::Contains(30u)) << seed;
    alone += energy_changes(y, rules).size() == 1 && step_changes(y, rules).size() == 1 ? 1 : 0;
    const std::vector<ChangePoint> found = change_points(y, rules, 0.03);
    ASSERT_EQ(found.size(), 1u) << seed;
    EXPECT_EQ(found[0].at, 30u);
    EXPECT_TRUE(found[0].is_agreed);
    EXPECT_NEAR(found[0].after - found[0].before, 0.06, 0.01);
    EXPECT_LT(found[0].p, 1e-9);
  }
  EXPECT_GE(alone, 15);  // chance splits a segment of noise now and then
}

TEST(ChangePoints, several_steps_up_and_down_are_all_found) {
  std::vector<double> levels = step(20, 20, 0.08);
  levels.insert(levels.end(), 20, -0.05);
  const std::vector<double> y = noisy(levels, 0.008, 3);
  EXPECT_THAT(energy_changes(y, rules), ElementsAre(20u, 40u));
  EXPECT_THAT(step_changes(y, rules), ElementsAre(20u, 40u));
}

TEST(ChangePoints, two_nights_at_the_end_are_enough_and_one_is_a_spike) {
  const std::vector<double> two = noisy(step(40, 2, 0.08), 0.01, 7);
  EXPECT_THAT(step_changes(two, rules), ElementsAre(40u));
  EXPECT_THAT(energy_changes(two, rules), ElementsAre(40u));
  std::vector<double> spike = noisy(step(41, 0, 0), 0.01, 7);
  spike[20] = 0.3;
  spike.push_back(0.3);
  EXPECT_THAT(step_changes(spike, rules), IsEmpty());
}

TEST(ChangePoints, a_slow_drift_or_noise_is_rarely_agreed_on) {
  int agreed = 0;
  for (std::uint64_t seed = 100; seed < 300; ++seed) {
    for (const ChangePoint& c : change_points(noisy(step(50, 0, 0), 0.02, seed), rules)) {
      agreed += c.is_agreed ? 1 : 0;
    }
  }
  EXPECT_LE(agreed, 10);  // of 200 series
}

// Every segmentation of nine nights with segments of two at least, priced directly.
double best_price(const std::vector<double>& y, std::size_t begin, double price) {
  if (begin == y.size()) return -price;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t end = begin + 2; end <= y.size(); ++end) {
    if (y.size() - end == 1) continue;
    const std::span<const double> part(y.data() + begin, end - begin);
    double cost = price;
    for (const double v : part) cost += std::abs(v - median(part));
    best = std::min(best, cost + best_price(y, end, price));
  }
  return best;
}

TEST(ChangePoints, the_step_fit_is_the_cheapest_of_all_segmentations) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::vector<double> y = noisy(step(4, 5, 0.02 * as_double(seed % 5)), 0.01, seed);
    y[seed % 9] += 0.05;
    const double price = rules.penalty * std::max(night_noise(y), 1e-3) * std::log(9.0);
    std::vector<std::size_t> at = step_changes(y, rules);
    double cost = price * as_double(at.size());
    at.push_back(y.size());
    std::size_t begin = 0;
    for (const std::size_t end : at) {
      const std::span<const double> part(y.data() + begin, end - begin);
      for (const double v : part) cost += std::abs(v - median(part));
      begin = end;
    }
    EXPECT_NEAR(cost, best_price(y, 0, price), 1e-12) << seed;
  }
}

// The energy distance by its definition: 2 E|X-Y| - E|X-X'| - E|Y-Y'|, weighed by nm / (n + m).
std::size_t split_by_definition(const std::vector<double>& y) {
  const auto mean_distance = [](std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (const double u : a) {
      for (const double v : b) sum += std::abs(u - v);
    }
    return sum / as_double(a.size() * b.size());
  };
  std::size_t best = 0;
  double most = -1;
  for (std::size_t k = 2; k + 2 <= y.size(); ++k) {
    const std::span<const double> a(y.data(), k), b(y.data() + k, y.size() - k);
    const double n = as_double(a.size()), m = as_double(b.size());
    const double energy =
        n * m / (n + m) * (2 * mean_distance(a, b) - mean_distance(a, a) - mean_distance(b, b));
    if (energy > most) {
      most = energy;
      best = k;
    }
  }
  return best;
}

TEST(ChangePoints, the_first_split_is_that_of_the_energy_distance) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::vector<double> y = noisy(step(12, 9, 0.5), 0.1, seed);
    const std::vector<std::size_t> found = energy_changes(y, rules);
    ASSERT_FALSE(found.empty());
    EXPECT_THAT(found, testing::Contains(split_by_definition(y))) << seed;
  }
}

TEST(ChangePoints, the_noise_of_a_night_is_not_moved_by_a_step) {
  const std::vector<double> flat = noisy(step(400, 0, 0), 0.02, 5);
  const std::vector<double> stepped = noisy(step(200, 200, 0.5), 0.02, 5);
  EXPECT_NEAR(night_noise(flat), 0.02, 0.002);
  EXPECT_NEAR(night_noise(stepped), night_noise(flat), 0.0005);
  EXPECT_EQ(night_noise(std::vector{1.0}), 0);
}

// A ramp over four nights: detectors may place its step in different nights.
TEST(ChangePoints, detectors_agree_that_place_a_change_at_most_one_night_apart) {
  const auto is_near = [](const std::vector<std::size_t>& places, std::size_t at) {
    return std::ranges::any_of(places, [at](std::size_t other) {
      return std::abs(static_cast<int>(other) - static_cast<int>(at)) <= 1;
    });
  };
  int apart = 0, beside = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::vector<double> levels = step(15, 15, 0.06);
    levels[15] = 0.012;
    levels[16] = 0.024;
    levels[17] = 0.036;
    levels[18] = 0.048;
    const std::vector<double> y = noisy(levels, 0.01, seed);
    const auto first = energy_changes(y, rules), second = step_changes(y, rules);
    std::set<std::size_t> expected(first.begin(), first.end());
    for (const std::size_t at : second) {
      if (!is_near(first, at)) expected.insert(at);
      for (const std::size_t other : first) {
        const int distance = std::abs(static_cast<int>(at) - static_cast<int>(other));
        apart += distance == 2 ? 1 : 0;
        beside += distance == 1 ? 1 : 0;
      }
    }
    std::set<std::size_t> found;
    for (const ChangePoint& c : change_points(y, rules)) {
      found.insert(c.at);
      EXPECT_EQ(c.is_agreed, is_near(first, c.at) && is_near(second, c.at)) << seed;
    }
    EXPECT_EQ(found, expected) << seed;
  }
  EXPECT_GT(apart, 5);
  EXPECT_GT(beside, 5);
}

// However small its values are and wherever it lies.
TEST(ChangePoints, the_energy_distance_is_that_of_differences_alone) {
  EXPECT_THAT(energy_changes(step(2, 10, 0.005), rules), ElementsAre(2u));
  EXPECT_THAT(energy_changes(step(10, 2, 0.005), rules), ElementsAre(10u));
  EXPECT_THAT(energy_changes(step(6, 6, 0.005), rules), ElementsAre(6u));
}

TEST(ChangePoints, need_two_segments_of_two_nights) {
  EXPECT_THAT(step_changes(std::vector{0.0, 0.0, 1.0}, rules), IsEmpty());
  EXPECT_THAT(energy_changes(std::vector{0.0, 0.0, 1.0}, rules), IsEmpty());
  EXPECT_THAT(energy_changes(std::vector{0.0, 0.0, 1.0, 1.0}, rules), ElementsAre(2u));
  EXPECT_THAT(change_points({}, rules), IsEmpty());
}

// By hand: differences 0.1, 0.3, 0.2 have the median 0.2.
TEST(ChangePoints, the_noise_is_that_of_normal_nights) {
  EXPECT_NEAR(night_noise(std::vector{0.0, 0.1, -0.2, 0.0}), 1.4826 * 0.2 / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(night_noise(std::vector{0.0, 0.1}), 1.4826 * 0.1 / std::sqrt(2.0), 1e-12);
}

// Equal nights still spread by a thousandth: t = 0.01 / (0.001 sqrt(1/2 + 1/2)) = 10 with two
// degrees of freedom, whose p is 1 - t / sqrt(t^2 + 2).
TEST(ChangePoints, equal_nights_are_no_surer_than_clocks_are) {
  EXPECT_NEAR(segments_p(std::vector{0.0, 0.0}, std::vector{0.01, 0.01}), 1 - 10 / std::sqrt(102.0),
              1e-9);
  EXPECT_NEAR(segments_p(std::vector{0.0, 0.0}, std::vector{0.01}),
              2 / std::numbers::pi * std::atan(0.1 * std::sqrt(1.5)), 1e-9)
      << "one degree: 1 - 2 / pi atan(t), t = 10 / sqrt(1.5)";
  EXPECT_EQ(segments_p({}, std::vector{1.0, 2.0, 3.0}), 1);
  EXPECT_EQ(segments_p(std::vector{1.0, 2.0, 3.0}, {}), 1);
}

// The smallest step goes first, and its neighbours share its nights.
TEST(ChangePoints, steps_below_the_least_size_are_taken_out_one_by_one) {
  std::vector<double> y = step(10, 10, 0.05);
  y.insert(y.end(), 10, 0.25);
  const std::vector<ChangePoint> all = change_points(y, rules, 0.05);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_NEAR(all[0].size(), 0.05, 1e-12);
  EXPECT_NEAR(all[1].before, 0.05, 1e-12);
  const std::vector<ChangePoint> large = change_points(y, rules, 0.051);
  ASSERT_EQ(large.size(), 1u);
  EXPECT_EQ(large[0].at, 20u);
  EXPECT_NEAR(large[0].before, 0.025, 1e-12) << "the median of twenty nights";
  EXPECT_NEAR(large[0].after, 0.25, 1e-12);
  EXPECT_THAT(change_points(y, rules, 0.3), IsEmpty());
}

}  // namespace
}  // namespace halmark::history
