#include "history/statistics/rank_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "rows.hpp"

namespace halmark::history {
namespace {

// Every way to choose which seven of fourteen values are the first sample.
double exact_p(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::ranges::sort(all);
  const auto rank = [&](double v) {
    return static_cast<double>(std::ranges::lower_bound(all, v) - all.begin()) + 1;
  };
  const double centre = static_cast<double>(a.size() * (all.size() + 1)) / 2;
  double own = 0;
  for (const double v : a) own += rank(v);
  int extreme = 0, total = 0;
  for (unsigned mask = 0; mask < 1u << all.size(); ++mask) {
    if (static_cast<std::size_t>(__builtin_popcount(mask)) != a.size()) continue;
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((mask >> i & 1u) != 0) sum += static_cast<double>(i + 1);
    }
    ++total;
    extreme += std::abs(sum - centre) >= std::abs(own - centre) ? 1 : 0;
  }
  return static_cast<double>(extreme) / total;
}

TEST(RankSum, is_the_exact_p_of_all_permutations) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::vector<double> a, b;
    for (std::uint64_t i = 0; i < 7; ++i) {
      a.push_back(test::normal(seed, i));
      b.push_back(test::normal(seed, i + 7) + 0.2 * static_cast<double>(seed));
    }
    const double exact = exact_p(a, b);
    EXPECT_NEAR(rank_sum_p(a, b), exact, 1e-12) << seed;
    EXPECT_DOUBLE_EQ(rank_sum_p(a, b), rank_sum_p(b, a));
  }
}

TEST(RankSum, is_exact_for_sides_of_different_sizes) {
  EXPECT_DOUBLE_EQ(rank_sum_p(std::vector{1.0, 2.0}, std::vector{3.0, 4.0, 5.0}), 0.2);
  EXPECT_DOUBLE_EQ(rank_sum_p(std::vector{3.0, 4.0, 5.0}, std::vector{1.0, 2.0}), 0.2);
  EXPECT_DOUBLE_EQ(rank_sum_p(std::vector{1.0}, std::vector{2.0, 3.0, 4.0}), 0.5);
  EXPECT_DOUBLE_EQ(rank_sum_p(std::vector{1.0, 3.0}, std::vector{2.0, 4.0, 5.0}), 0.4);
}

// By hand: ranks of a are 1.5, 1.5, 4; sum 7; mean 10.5; variance 9/12 * (7 - 6/30) = 5.1.
TEST(RankSum, shares_ranks_among_ties) {
  const double z = 3.5 / std::sqrt(5.1);
  EXPECT_NEAR(rank_sum_p(std::vector{1.0, 1.0, 3.0}, std::vector{2.0, 4.0, 5.0}),
              std::erfc(z / std::sqrt(2.0)), 1e-14);
  EXPECT_EQ(rank_sum_p(std::vector{1.0, 1.0}, std::vector{1.0}), 1);
  EXPECT_EQ(rank_sum_p({}, std::vector{1.0}), 1);
}

// 60 x 50 pairs are counted exactly: the two outermost orders of C(110, 50) have a chance far below
// that of a normal z of 9.0; 60 x 51 pairs are not.
TEST(RankSum, is_exact_up_to_three_thousand_pairs) {
  const auto apart = [](int n, int m) {
    std::vector<double> a, b;
    for (int i = 0; i < n; ++i) a.push_back(i);
    for (int i = 0; i < m; ++i) b.push_back(1000 + i);
    return rank_sum_p(a, b);
  };
  const double ways = std::lgamma(111.0) - std::lgamma(51.0) - std::lgamma(61.0);
  EXPECT_NEAR(std::log(apart(60, 50)), std::log(2.0) - ways, 1e-6);
  const double z = 60 * 51 / 2.0 / std::sqrt(60 * 51 / 12.0 * 112);
  EXPECT_NEAR(apart(60, 51) / std::erfc(z / std::sqrt(2.0)), 1, 1e-9);
}

}  // namespace
}  // namespace halmark::history
