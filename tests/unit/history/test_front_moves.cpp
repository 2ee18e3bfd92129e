#include <gmock/gmock.h>

#include <cmath>

#include "core/numeric/student_t.hpp"
#include "history/front_moves.hpp"
#include "history/nights.hpp"
#include "history/statistics/duet_verdict.hpp"
#include "rows.hpp"

namespace halmark::history {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A configuration of this batch whose step is the sum of two operators.
Evaluation evaluation(std::int64_t batch, double gemm_ns, double norm_ns, double probability = -1) {
  Evaluation out;
  out.configuration.model = "m";
  out.configuration.workload.batch = batch;
  out.estimate = Estimate{.step_ns = gemm_ns + norm_ns};
  out.estimate->operators = {{.name = "gemm", .count = 1, .ns = gemm_ns},
                             {.name = "norm", .count = 1, .ns = norm_ns}};
  if (probability >= 0) out.standing = FrontStanding{FrontClass::possible, probability};
  return out;
}

TEST(FrontMoves, name_what_left_and_its_own_kernel) {
  const std::vector<Evaluation> before = {evaluation(1, 100, 10, 1), evaluation(2, 150, 10, 1)};
  const std::vector<Evaluation> after = {evaluation(1, 100, 10, 1), evaluation(2, 150, 60, 0)};
  const auto moves = front_moves({before, {0, 1}}, {after, {0}});
  ASSERT_THAT(moves, SizeIs(1));
  EXPECT_EQ(moves[0].configuration, before[1].configuration.key());
  EXPECT_FALSE(moves[0].has_entered);
  EXPECT_TRUE(moves[0].is_certain);
  EXPECT_EQ(moves[0].moved_by, moves[0].configuration);
  EXPECT_EQ(moves[0].kernel, "norm");
  EXPECT_EQ(moves[0].kernel_before_ns, 10);
  EXPECT_EQ(moves[0].kernel_after_ns, 60);
  EXPECT_EQ(moves[0].before_ns, 160);
  EXPECT_EQ(moves[0].after_ns, 210);
}

TEST(FrontMoves, name_the_kernel_of_the_one_that_pushed_it_out) {
  const std::vector<Evaluation> before = {evaluation(1, 100, 10), evaluation(2, 150, 10)};
  const std::vector<Evaluation> after = {evaluation(1, 50, 10), evaluation(2, 150, 10)};
  const auto moves = front_moves({before, {0, 1}}, {after, {0}});
  ASSERT_THAT(moves, SizeIs(1));
  EXPECT_EQ(moves[0].configuration, before[1].configuration.key());
  EXPECT_EQ(moves[0].moved_by, before[0].configuration.key());
  EXPECT_EQ(moves[0].kernel, "gemm");
  EXPECT_FALSE(moves[0].is_certain) << "no side has judged it";
}

TEST(FrontMoves, what_is_new_entered_and_an_equal_front_has_not_moved) {
  const std::vector<Evaluation> before = {evaluation(1, 100, 10)};
  const std::vector<Evaluation> after = {evaluation(1, 100, 10), evaluation(4, 90, 10)};
  const auto moves = front_moves({before, {0}}, {after, {0, 1}});
  ASSERT_THAT(moves, SizeIs(1));
  EXPECT_TRUE(moves[0].has_entered);
  EXPECT_FALSE(moves[0].before_ns);
  EXPECT_EQ(moves[0].after_ns, 100);
  EXPECT_THAT(front_moves({before, {0}}, {before, {0}}), IsEmpty());
  EXPECT_THAT(front_moves({{}, {}}, {after, {0}}), IsEmpty());
}

TEST(FrontMoves, half_a_probability_is_certain) {
  const auto is_certain = [](double before, double after) {
    const std::vector<Evaluation> a = {evaluation(1, 100, 10, 1), evaluation(2, 100, 10, before)};
    const std::vector<Evaluation> b = {evaluation(1, 100, 10, 1), evaluation(2, 100, 10, after)};
    return front_moves({a, {0, 1}}, {b, {0}}).at(0).is_certain;
  };
  EXPECT_TRUE(is_certain(0.75, 0.25));
  EXPECT_TRUE(is_certain(0.25, 0.75));
  EXPECT_FALSE(is_certain(0.75, 0.26));
}

// 1 % of itself is enough, whatever moved more.
TEST(FrontMoves, what_changed_by_one_percent_moved_by_itself) {
  const auto moved_by = [](double gemm_ns) {
    const std::vector<Evaluation> a = {evaluation(1, 100, 0), evaluation(2, 1000, 0)};
    const std::vector<Evaluation> b = {evaluation(1, 50, 0), evaluation(2, gemm_ns, 0)};
    const auto moves = front_moves({a, {0, 1}}, {b, {0}});
    return moves.at(0).moved_by == a[1].configuration.key() ? "itself" : "the other";
  };
  EXPECT_STREQ(moved_by(1011), "itself");
  EXPECT_STREQ(moved_by(1009), "the other");
}

TEST(FrontMoves, of_a_configuration_that_was_evaluated_twice_the_last_one_counts) {
  const std::vector<Evaluation> a = {evaluation(1, 100, 0), evaluation(2, 700, 0),
                                     evaluation(2, 500, 0)};
  const std::vector<Evaluation> b = {evaluation(1, 100, 0), evaluation(2, 600, 0)};
  const auto moves = front_moves({a, {0, 2}}, {b, {0}});
  EXPECT_EQ(moves.at(0).before_ns, 500);
  EXPECT_EQ(moves.at(0).kernel_before_ns, 500);
}

// Kernels of one name in layers of two types are one kernel; of equal changes the first by name.
TEST(FrontMoves, a_kernel_is_summed_over_layers_of_all_types) {
  const auto with = [](std::vector<std::pair<std::string, double>> kernels) {
    Evaluation out = evaluation(2, 0, 0);
    out.estimate = Estimate{.step_ns = 1000};
    for (const auto& [name, ns] : kernels) {
      out.estimate->operators.push_back({.name = name, .count = 1, .ns = ns});
      out.estimate->step_ns += ns;
    }
    return out;
  };
  const auto move = [&](const Evaluation& before, const Evaluation& after) {
    const std::vector<Evaluation> a = {evaluation(1, 100, 0), before};
    const std::vector<Evaluation> b = {evaluation(1, 100, 0), after};
    return front_moves({a, {0, 1}}, {b, {0}}).at(0);
  };
  const FrontMove one =
      move(with({{"a", 100}, {"a", 100}, {"b", 10}}), with({{"a", 110}, {"a", 120}, {"b", 50}}));
  EXPECT_EQ(one.kernel, "b");
  EXPECT_EQ(one.kernel_before_ns, 10);
  EXPECT_EQ(one.kernel_after_ns, 50);
  const FrontMove both =
      move(with({{"a", 100}, {"a", 100}, {"b", 10}}), with({{"a", 130}, {"a", 120}, {"b", 50}}));
  EXPECT_EQ(both.kernel, "a");
  EXPECT_EQ(both.kernel_before_ns, 200);
  EXPECT_EQ(both.kernel_after_ns, 250);
  EXPECT_EQ(move(with({{"a", 10}, {"b", 10}}), with({{"a", 60}, {"b", 60}})).kernel, "a");
}

// Where the other side never evaluated it, neither a change nor a kernel is named.
TEST(FrontMoves, what_one_side_lacks_has_no_kernel) {
  const std::vector<Evaluation> a = {evaluation(1, 100, 0), evaluation(2, 500, 0)};
  const std::vector<Evaluation> b = {evaluation(1, 100, 0), evaluation(3, 400, 0)};
  const auto moves = front_moves({a, {0, 1}}, {b, {0, 1}});
  ASSERT_THAT(moves, SizeIs(2));
  EXPECT_TRUE(moves[0].has_entered);
  EXPECT_EQ(moves[0].kernel, "");
  EXPECT_EQ(moves[0].moved_by, moves[0].configuration);
  EXPECT_FALSE(moves[1].has_entered);
  EXPECT_EQ(moves[1].before_ns, 500);
  EXPECT_FALSE(moves[1].after_ns);
  EXPECT_EQ(moves[1].kernel, "");
}

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
