#include "history/statistics/duet_verdict.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "core/numeric/student_t.hpp"
#include "history/nights.hpp"
#include "rows.hpp"

namespace halmark::history {
namespace {

using testing::HasSubstr;

// Pairs around `step` (0.05 = 5 % slower), alternately `noise` above and below it.
Duet duet(double step, double noise, std::size_t pairs) {
  Duet out;
  for (std::size_t i = 0; i < pairs; ++i) {
    out.log_ratios.push_back(std::log1p(step) + (i % 2 == 0 ? noise : -noise));
  }
  return out;
}

TEST(DuetVerdict, ratio_interval_and_p_are_those_of_student) {
  const DuetVerdict v = judge_duet(duet(0.05, 0.01, 10), 0.03);
  // Of ten values 0.01 from their mean the inner six: sqrt(10 x 0.01^2 / (6 x 5)).
  const double error = 0.01 / std::sqrt(3.0), size = std::log1p(0.05);
  EXPECT_NEAR(v.ratio, 1.05, 1e-12);
  EXPECT_NEAR(std::log(v.interval.high) - size, 2.570582 * error,
              1e-6);  // t(0.975, 5), from a table
  EXPECT_NEAR(std::log(v.interval.low) - size, -2.570582 * error, 1e-6);
  EXPECT_NEAR(v.p, t_two_sided_p(size / error, 5), 1e-15);
  EXPECT_EQ(v.change, Change::slower);
  EXPECT_EQ(judge_duet(duet(-0.05, 0.01, 10), 0.03).change, Change::faster);
}

TEST(DuetVerdict, both_sides_of_the_floor) {
  EXPECT_EQ(judge_duet(duet(0.031, 1e-4, 10), 0.03).change, Change::slower);
  EXPECT_EQ(judge_duet(duet(0.025, 1e-4, 10), 0.03).change, Change::same);
  // Nearer to the floor than an interval of 95 % is wide, t(0.975, 5) = 2.571: neither.
  EXPECT_EQ(judge_duet(duet(0.026, 0.0009, 10), 0.03).change, Change::same);
  EXPECT_EQ(judge_duet(duet(0.029, 0.0009, 10), 0.03).change, Change::undecided);
  EXPECT_EQ(judge_duet(duet(0.04, 0.05, 10), 0.03).change, Change::undecided);
  EXPECT_EQ(judge_duet(duet(0.04, 0.05, 10), 0.03).reason,
            "its 10 pairs scatter by 9.1 %: more pairs decide");
}

// What is printed beside SAME shows it; SLOWER needs more than the interval that is printed.
TEST(DuetVerdict, same_is_said_only_where_the_interval_lies_within_the_floor) {
  for (int step = -40; step <= 40; ++step) {
    for (const double noise : {1e-4, 9e-4, 3e-3, 0.01}) {
      const DuetVerdict v = judge_duet(duet(1e-3 * step, noise, 10), 0.03);
      const bool is_within = v.interval.low >= 1 / 1.03 && v.interval.high <= 1.03;
      EXPECT_EQ(v.change == Change::same, is_within) << step << ' ' << noise;
    }
  }
  // t(0.975, 5) = 2.57 of it exclude no change, t(0.995, 5) = 4.03 do not.
  const DuetVerdict open = judge_duet(duet(0.035, 0.018, 10), 0.03);
  EXPECT_GT(open.interval.low, 1);
  EXPECT_EQ(open.change, Change::undecided);
}

TEST(DuetVerdict, a_pair_that_stands_out_changes_nothing) {
  Duet one_mode = duet(0, 0.002, 9);
  one_mode.log_ratios.push_back(std::log(2.2));
  EXPECT_EQ(judge_duet(one_mode, 0.03).change, Change::same);
  Duet slower = duet(0.05, 0.002, 9);
  slower.log_ratios.push_back(-std::log(2.2));
  EXPECT_EQ(judge_duet(slower, 0.03).change, Change::slower);
}

TEST(DuetVerdict, failed_or_short_duets_say_why) {
  Duet failed = duet(0, 0, 4);
  failed.status = Status::wrong_result;
  failed.reason = "the new build: element 3";
  EXPECT_EQ(judge_duet(failed, 0.03).change, Change::invalid);
  EXPECT_THAT(judge_duet(failed, 0.03).reason, HasSubstr("the new build: element 3"));
  failed.is_new_at_fault = true;
  EXPECT_EQ(judge_duet(failed, 0.03).change, Change::failed) << "the old one computed";
  failed.status = Status::quarantined;
  EXPECT_EQ(judge_duet(failed, 0.03).change, Change::invalid) << "a time that nobody believes";
  EXPECT_EQ(judge_duet(duet(0, 0, 2), 0.03).change, Change::invalid);
  EXPECT_EQ(judge_duet(duet(0, 0.001, 3), 0.03).change, Change::same);
}

// Ten equal pairs: 0.001 / sqrt(10) of error, t(0.975, 5) = 2.570582.
TEST(DuetVerdict, equal_pairs_are_no_surer_than_clocks_are) {
  const DuetVerdict v = judge_duet(duet(0.05, 0, 10), 0.03);
  EXPECT_NEAR(std::log(v.interval.high / 1.05), 2.570582e-3 / std::sqrt(10), 1e-9);
  EXPECT_EQ(v.pairs, 10);
  EXPECT_EQ(judge_duet(duet(0, 0, 2), 0.03).reason, "2 pairs, and 3 are needed");
}

// Eight pairs that chose at 0.1; the two others below the fifth that counts, so that 0.1 is the
// size.
TEST(DuetVerdict, the_other_pairs_confirm_half_of_it) {
  const auto with = [](double others, int choosing = 8) {
    Duet out = duet(std::expm1(0.1), 0.0005, 8);
    out.choosing_pairs = choosing;
    out.log_ratios.insert(out.log_ratios.end(), 2, others);
    return judge_duet(out, 0.03).change;
  };
  EXPECT_EQ(with(0.052), Change::slower);
  EXPECT_EQ(with(0.048), Change::undecided);
  EXPECT_EQ(with(0.08, 9), Change::slower) << "one is enough";
  EXPECT_EQ(with(0.08, 10), Change::undecided) << "none is not";
}

// t(0.995, 5) = 4.032143, t(0.975, 5) = 2.570582; of alternating pairs the error is noise /
// sqrt(3).
TEST(DuetVerdict, a_change_is_called_where_its_interval_leaves_one) {
  EXPECT_EQ(judge_duet(duet(0.05, std::log(1.05) * std::sqrt(3.0) / 4.04, 10), 0.03).change,
            Change::slower);
  EXPECT_EQ(judge_duet(duet(0.05, std::log(1.05) * std::sqrt(3.0) / 4.02, 10), 0.03).change,
            Change::undecided);
  const double left = std::log(1.03) - std::log(1.01);
  EXPECT_EQ(judge_duet(duet(0.01, left * std::sqrt(3.0) / 2.58, 10), 0.03).change, Change::same);
  EXPECT_EQ(judge_duet(duet(0.01, left * std::sqrt(3.0) / 2.56, 10), 0.03).change,
            Change::undecided);
}

}  // namespace
}  // namespace halmark::history
