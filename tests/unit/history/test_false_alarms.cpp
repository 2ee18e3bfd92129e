#include "history/statistics/false_alarms.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "stored.hpp"

namespace halmark::history {
namespace {

using testing::SizeIs;

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

}  // namespace
}  // namespace halmark::history
