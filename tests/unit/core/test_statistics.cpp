#include "core/numeric/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/numeric/random.hpp"
#include "core/numeric/trimmed_mean.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark {
namespace {

// 1..n in an order that is not sorted, so that a value is its own rank.
std::vector<double> ranks(int n) {
  std::vector<double> out;
  for (int i = 0; i < n; ++i) out.push_back(i + 1);
  for (std::size_t i = out.size(); i-- > 1;) {
    std::swap(out[i], out[uniform_below(hash_u64(5, i), i + 1)]);
  }
  return out;
}

struct Known {
  int n;
  double low, high;
};
class MedianRanks : public testing::TestWithParam<Known> {};

TEST_P(MedianRanks, are_the_tabulated_ones) {
  const Known known = GetParam();
  const MedianInterval got = median_interval(ranks(known.n));
  EXPECT_TRUE(got.is_95_percent);
  EXPECT_EQ(got.interval.low, known.low);
  EXPECT_EQ(got.interval.high, known.high);
}

// Below 50 from exact binomial sums, above from the normal formula.
INSTANTIATE_TEST_SUITE_P(Sizes, MedianRanks,
                         testing::Values(Known{6, 1, 6}, Known{7, 1, 7}, Known{9, 2, 8},
                                         Known{10, 2, 9}, Known{20, 6, 15}, Known{49, 18, 32},
                                         Known{50, 18, 33}, Known{100, 40, 61}),
                         [](const auto& info) {
                           return test::case_name({"n", info.param.n});
                         });

// P(order statistics low..high of n draws hold the median), from Pascal's triangle.
double coverage(int n, int low, int high) {
  std::vector<long double> row{1};
  for (int i = 0; i < n; ++i) {
    std::vector<long double> next(row.size() + 1, 0);
    for (std::size_t k = 0; k < row.size(); ++k) {
      next[k] += row[k] / 2;
      next[k + 1] += row[k] / 2;
    }
    row = std::move(next);
  }
  // The median lies between them when at least `low` and fewer than `high` draws are below it.
  long double out = 0;
  for (int below = low; below < high; ++below) out += row[static_cast<std::size_t>(below)];
  return static_cast<double>(out);
}

TEST(MedianInterval, holds_the_median_with_95_percent_and_no_narrower_one_does) {
  for (int n = 6; n <= 400; ++n) {
    const MedianInterval got = median_interval(ranks(n));
    ASSERT_TRUE(got.is_95_percent);
    const int low = static_cast<int>(got.interval.low), high = static_cast<int>(got.interval.high);
    EXPECT_EQ(low + high, n + 1) << "as many ranks below as above, n " << n;
    EXPECT_GE(coverage(n, low, high), 0.95) << n;
    // The normal formula from 50 on may take a rank more than is needed, never two.
    const int spare = n < 50 ? 1 : 2;
    EXPECT_LT(coverage(n, low + spare, high - spare), 0.95) << n;
  }
}

TEST(MedianInterval, below_six_values_it_is_the_range_and_says_so) {
  for (int n = 1; n <= 5; ++n) {
    const MedianInterval got = median_interval(ranks(n));
    EXPECT_FALSE(got.is_95_percent);
    EXPECT_EQ(got.interval.low, 1);
    EXPECT_EQ(got.interval.high, n);
  }
}

TEST(Quantile, interpolates_between_neighbours) {
  const std::vector<double> v{4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(quantile(v, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(v, 1), 4);
  EXPECT_DOUBLE_EQ(quantile(v, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(median(v), 2.5);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{7}), 7);
}

TEST(RelativeIqr, is_the_middle_half_over_the_median) {
  EXPECT_DOUBLE_EQ(relative_iqr(ranks(5)), 2.0 / 3);
  EXPECT_EQ(relative_iqr(std::vector<double>{5, 5, 5}), 0);
  EXPECT_EQ(relative_iqr(std::vector<double>{0, 0, 0}), 0) << "never a division by zero";
}

// By hand: the inner three of five, their winsorized squares 4 x 1 over 3 x 2.
TEST(TrimmedMean, leaves_the_outer_fifths_out) {
  const TrimmedMean of_five = trimmed_mean(std::vector<double>{100, 2, 1, 4, 3});
  EXPECT_DOUBLE_EQ(of_five.value, 3);
  EXPECT_DOUBLE_EQ(of_five.error, std::sqrt(4.0 / 6));
  EXPECT_DOUBLE_EQ(of_five.freedom, 2);
  const TrimmedMean of_four = trimmed_mean(std::vector<double>{1, 2, 3, 6});
  EXPECT_DOUBLE_EQ(of_four.value, 3);
  EXPECT_DOUBLE_EQ(of_four.error, std::sqrt(14.0 / 12)) << "nothing left out: the usual one";
  EXPECT_EQ(trimmed_mean(std::vector<double>{1.5}).value, 1.5);
}

// Of normal values its error is the spread of the means that other draws would have; t of its
// degrees of freedom holds.
TEST(TrimmedMean, its_error_is_the_spread_of_its_values) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  double squares = 0, errors = 0;
  constexpr int draws = 4000;
  for (int i = 0; i < draws; ++i) {
    std::vector<double> values(20);
    for (double& value : values) value = normal(random);
    const TrimmedMean one = trimmed_mean(values);
    squares += one.value * one.value;
    errors += one.error * one.error;
  }
  EXPECT_NEAR(std::sqrt(errors / squares), 1, 0.04);
}

}  // namespace
}  // namespace halmark
