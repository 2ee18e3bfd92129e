#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/numeric/cast.hpp"
#include "core/numeric/random.hpp"
#include "core/numeric/statistics.hpp"
#include "core/numeric/student_t.hpp"
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
  for (int below = low; below < high; ++below) out += row[as_size(below)];
  return as_double(out);
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

// mpmath at 40 digits: by its incomplete beta function and, to 12 digits the same, by quadrature of
// the density.
TEST(StudentT, tails_are_those_of_forty_digits) {
  struct Row {
    double t, freedom, p;
  };
  for (const Row& row :
       {Row{0.1, 1, 0.93654896513889286}, Row{1, 2, 0.42264973081037424},
        Row{2.5, 3.7, 0.071822022911826773}, Row{4.2, 4, 0.013695810305096451},
        Row{12, 7.5, 3.6608064556194797e-6}, Row{5.3, 40, 4.5321253687491294e-6},
        Row{8, 58, 6.1246915642388604e-11}, Row{40, 3, 3.4380680789158528e-5},
        Row{1.96, 1e6, 0.049996067585269791}, Row{6, 1e6, 1.9738498123544347e-9}}) {
    EXPECT_NEAR(t_two_sided_p(row.t, row.freedom) / row.p, 1, 1e-12) << row.t << ' ' << row.freedom;
    EXPECT_EQ(t_two_sided_p(-row.t, row.freedom), t_two_sided_p(row.t, row.freedom));
  }
  EXPECT_EQ(t_two_sided_p(0, 5), 1);
  EXPECT_EQ(t_two_sided_p(std::numeric_limits<double>::infinity(), 5), 0);
}

// The usual printed table, two-sided.
TEST(StudentT, critical_values_are_those_of_the_printed_table) {
  EXPECT_NEAR(t_critical(0.05, 1), 12.706, 5e-4);
  EXPECT_NEAR(t_critical(0.05, 2), 4.303, 5e-4);
  EXPECT_NEAR(t_critical(0.05, 4), 2.776, 5e-4);
  EXPECT_NEAR(t_critical(0.05, 9), 2.262, 5e-4);
  EXPECT_NEAR(t_critical(0.001, 40), 3.551, 5e-4);
  EXPECT_NEAR(t_critical(0.10, 16), 1.746, 5e-4);
}

// Below one, where the search begins, and far beyond it; mpmath at 40 digits.
TEST(StudentT, critical_values_are_found_on_both_sides_of_where_the_search_begins) {
  EXPECT_NEAR(t_critical(0.5, 1), 1, 1e-12) << "tan(pi / 4)";
  EXPECT_NEAR(t_critical(0.9, 1), 0.15838444032453629, 1e-12) << "tan(pi / 20)";
  EXPECT_NEAR(t_critical(1e-6, 1) * 1e-6, 0.6366197723675813, 1e-9) << "2 / pi";
  for (const double p : {0.9, 0.4, 0.01, 1e-8}) {
    EXPECT_NEAR(t_two_sided_p(t_critical(p, 7), 7) / p, 1, 1e-12);
  }
}

// Two degrees have a closed form: 1 - t / sqrt(t^2 + 2).
TEST(StudentT, of_two_degrees_is_its_closed_form) {
  for (const double t : {1e-3, 0.5, 1.0, 1.4, 1.5, 3.0, 20.0, 500.0}) {
    const double square = t * t + 2;
    const double exact = 2 / (square + t * std::sqrt(square));
    EXPECT_NEAR(t_two_sided_p(t, 2) / exact, 1, 1e-12) << t;
  }
}

}  // namespace
}  // namespace halmark
