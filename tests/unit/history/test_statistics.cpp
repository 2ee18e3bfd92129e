#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/numeric/cast.hpp"
#include "core/numeric/random.hpp"
#include "history/statistics/false_alarms.hpp"
#include "history/statistics/false_discovery.hpp"
#include "history/statistics/rank_test.hpp"
#include "rows.hpp"
#include "stored.hpp"

namespace halmark::history {
namespace {

using testing::SizeIs;

// Every way to choose which seven of fourteen values are the first sample.
double exact_p(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::ranges::sort(all);
  const auto rank = [&](double v) {
    return as_double(std::ranges::lower_bound(all, v) - all.begin()) + 1;
  };
  const double centre = as_double(a.size() * (all.size() + 1)) / 2;
  double own = 0;
  for (const double v : a) own += rank(v);
  int extreme = 0, total = 0;
  for (unsigned mask = 0; mask < 1u << all.size(); ++mask) {
    if (as_size(__builtin_popcount(mask)) != a.size()) continue;
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((mask >> i & 1u) != 0) sum += as_double(i + 1);
    }
    ++total;
    extreme += std::abs(sum - centre) >= std::abs(own - centre) ? 1 : 0;
  }
  return as_double(extreme) / total;
}

TEST(RankSum, is_the_exact_p_of_all_permutations) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::vector<double> a, b;
    for (std::uint64_t i = 0; i < 7; ++i) {
      a.push_back(test::normal(seed, i));
      b.push_back(test::normal(seed, i + 7) + 0.2 * as_double(seed));
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

// `pairs` pairs of `rounds` processes a side; the second side is `step` slower.
std::vector<Measurement> rows(int pairs, int rounds, double step) {
  std::vector<Measurement> out;
  for (int round = 0; round < 2 * rounds * pairs; ++round) {
    const double side = round % 2 == 0 ? 1 : 1 + step;
    const double ns =
        1000 * side * std::exp(0.002 * test::normal(3, static_cast<std::uint64_t>(round)));
    out.push_back(test::measurement(1, ns, round));
  }
  return out;
}

TEST(FalseAlarms, equal_sides_are_not_called_and_slower_ones_are) {
  const FalseAlarms none = false_alarms(rows(20, 3, 0), 3, {});
  EXPECT_EQ(none.comparisons, 20);
  EXPECT_THAT(none.called, SizeIs(0));
  const FalseAlarms all = false_alarms(rows(20, 3, 0.2), 3, {});
  EXPECT_THAT(all.called, SizeIs(20));
  EXPECT_EQ(all.called[0].key(), test::measurement(1, 1, 0).kernel_case.key());
}

TEST(FalseAlarms, only_what_a_duet_says_as_well_is_an_alarm) {
  FalseAlarms alarms = false_alarms(rows(20, 3, 0.2), 3, {});
  Duet slower{.kernel_case = alarms.called[0], .log_ratios = std::vector<double>(10, 0.1)};
  Duet same = slower;
  same.log_ratios.assign(10, 0.0);
  confirm(alarms, std::vector{slower, same, same}, 0.03);
  EXPECT_EQ(alarms.confirmed, 1);
  EXPECT_DOUBLE_EQ(alarms.share(), 0.05);
}

TEST(FalseAlarms, the_upper_bound_is_that_of_clopper_and_pearson) {
  EXPECT_NEAR(share_upper_95(0, 300), 1 - std::pow(0.05, 1.0 / 300), 1e-12);
  EXPECT_NEAR(share_upper_95(1, 10), 0.3941633, 1e-6);  // published tables: 0.394
  EXPECT_EQ(share_upper_95(0, 0), 1);
}

TEST(FalseAlarms, are_counted_for_each_kernel_of_each_pair_that_can_be_judged) {
  std::vector<Measurement> two;
  for (const Measurement& row : rows(4, 3, -0.2)) {
    two.push_back(row);
    two.push_back(row);
    two.back().kernel_case.problem = {"gemm", {{"m", 2}, {"n", 64}, {"k", 64}}};
    if (row.round / 6 == 1 && row.round % 2 == 1) two.back().status = Status::crashed;
  }
  const FalseAlarms alarms = false_alarms(two, 3, {});
  EXPECT_EQ(alarms.comparisons, 7) << "of one pair a side of one kernel is lost";
  ASSERT_THAT(alarms.called, SizeIs(7)) << "faster counts as well";
  EXPECT_EQ(alarms.called[3].key(), two[0].kernel_case.key()) << "the other one of that pair";
}

TEST(FalseAlarms, confirmed_ones_are_counted_anew_and_in_both_directions) {
  FalseAlarms one{.comparisons = 1, .confirmed = 7};
  Duet duet;
  duet.log_ratios.assign(10, -0.1);
  confirm(one, std::vector{duet}, 0.03);
  EXPECT_EQ(one.confirmed, 1);
  EXPECT_EQ(one.share(), 1);
  EXPECT_EQ(one.upper(), 1) << "all of them";
  EXPECT_EQ(share_upper_95(2, 1), 1);
  // By the closed form of one trial less than all: p^2 + 2 p (1 - p) = 0.95, p = 1 - sqrt(0.05).
  EXPECT_NEAR(share_upper_95(0, 2), 1 - std::sqrt(0.05), 1e-12);
  EXPECT_NEAR(share_upper_95(1, 2), std::sqrt(0.95), 1e-12);
}

// The example of the paper (JRSS B 57, 1995, section 4.1): 15 comparisons, of which the procedure
// at 5 % rejects the four smallest, and Bonferroni three.
TEST(FalseDiscovery, rejects_what_the_paper_rejects) {
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<double> q = false_discovery_q(p);
  EXPECT_EQ(std::ranges::count_if(q, [](double v) { return v <= 0.05; }), 4);
  EXPECT_NEAR(q[3], 0.0095 * 15 / 4, 1e-12);
  EXPECT_EQ(q.back(), 1);
}

TEST(FalseDiscovery, keeps_the_order_given_and_is_monotone_in_p) {
  const std::vector<double> p = {0.04, 0.001, 0.5, 0.02, 0.04};
  const std::vector<double> q = false_discovery_q(p);
  EXPECT_NEAR(q[1], 0.005, 1e-12);
  EXPECT_NEAR(q[3], 0.05, 1e-12);  // not 0.02 * 5 / 2 alone: the two of 0.04 give 0.05 as well
  EXPECT_EQ(q[0], q[4]);
  EXPECT_NEAR(q[2], 0.5, 1e-12);
  EXPECT_THAT(false_discovery_q({}), testing::IsEmpty());
}

// By drawing: of 200 true nulls and 50 shifted tests, the mean share of false discoveries.
TEST(FalseDiscovery, share_of_false_ones_is_what_was_asked_for) {
  double share = 0;
  constexpr int nights = 400;
  for (int night = 0; night < nights; ++night) {
    std::vector<double> p;
    for (std::uint64_t i = 0; i < 250; ++i) {
      const double u = uniform_01(hash_u64(static_cast<std::uint64_t>(night), i));
      p.push_back(i < 200 ? u : u * 1e-3);
    }
    const std::vector<double> q = false_discovery_q(p);
    double found = 0, wrong = 0;
    for (std::size_t i = 0; i < q.size(); ++i) {
      if (q[i] > 0.1) continue;
      ++found;
      if (i < 200) ++wrong;
    }
    if (found > 0) share += wrong / found / nights;
  }
  EXPECT_NEAR(share, 0.1 * 200 / 250, 0.01);  // exact for independent uniform nulls
}

}  // namespace
}  // namespace halmark::history
