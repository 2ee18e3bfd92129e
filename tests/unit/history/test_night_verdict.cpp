// What is said of the last nights of a series, on nights whose levels are stated here.
#include <gmock/gmock.h>

#include <cmath>

#include "history/nights.hpp"
#include "rows.hpp"

namespace halmark::history {
namespace {

using testing::HasSubstr;

// Three processes a night, a thousandth apart; nights alternate by `noise` around their level.
Series nights(const std::vector<double>& levels, double noise = 0.002) {
  Series out{.name = {.what = "gemm", .fingerprint = "machine"}};
  for (std::size_t night = 0; night < levels.size(); ++night) {
    const double centre = levels[night] + (night % 2 == 0 ? noise : -noise);
    for (int round = 0; round < 3; ++round) {
      const auto run = static_cast<std::int64_t>(night) + 1;
      // No two processes are equal: ranks are without ties.
      const double own = 1e-3 * (round - 1) + 1e-6 * static_cast<double>(night);
      out.rows.push_back(test::row(run, round, 1000 * std::exp(centre + own)));
    }
  }
  return out;
}

std::vector<double> step(std::size_t before, std::size_t after, double size) {
  std::vector<double> out(before, 0.0);
  out.insert(out.end(), after, size);
  return out;
}

SeriesHistory judged(const Series& series, const HistoryRules& rules = {}) {
  std::vector<SeriesHistory> out = {follow_series(series, rules)};
  judge_night(out, rules);
  return out.front();
}

TEST(NightVerdict, a_change_has_five_nights_before_it_and_is_recent_for_seven) {
  EXPECT_EQ(judged(nights(step(5, 2, 0.3))).change, Change::slower);
  EXPECT_EQ(judged(nights(step(4, 3, 0.3))).change, Change::undecided);
  EXPECT_EQ(judged(nights(step(1, 0, 0))).change, Change::waiting);
  EXPECT_EQ(judged(nights(step(4, 3, 0.3))).reason,
            "4 nights before, and 5 are needed to tell a change from the machine");
  EXPECT_EQ(judged(nights(step(20, 7, 0.3))).change, Change::slower);
  EXPECT_EQ(judged(nights(step(20, 8, 0.3))).change, Change::same);
  EXPECT_TRUE(judged(nights(step(20, 8, 0.3))).changes.at(0).is_agreed);
  EXPECT_EQ(judged(nights(step(1, 1, 0))).reason,
            "1 night before, and 5 are needed to tell a change from the machine");
  EXPECT_EQ(judged(nights({})).reason,
            "0 nights before, and 5 are needed to tell a change from the machine");
  EXPECT_EQ(judged(nights(step(5, 0, 0))).change, Change::waiting);
  EXPECT_EQ(judged(nights(step(6, 0, 0))).change, Change::same);
}

// Processes of 5 and 2 nights that are all apart: 2 of C(21, 6) ways to rank them, which is far
// more than Student's t of such a step. Of 8 nights two may hold the change, of 27 seven may.
TEST(NightVerdict, p_is_the_largest_times_the_nights_that_may_hold_the_change) {
  EXPECT_NEAR(judged(nights(step(5, 2, 0.3))).p, 2 / 54264.0, 1e-12);
  EXPECT_NEAR(judged(nights(step(6, 2, 0.3))).p, 2 * 2 / 134596.0, 1e-12);
  EXPECT_NEAR(judged(nights(step(9, 2, 0.3))).p, 5 * 2 / 1107568.0, 1e-12);          // C(33, 6)
  EXPECT_NEAR(judged(nights(step(25, 2, 0.3))).p / (7 * 2 / 324540216.0), 1, 1e-9);  // C(81, 6)
}

// Of forty nights before, some were where the last two are: each of the two was there by that
// share.
TEST(NightVerdict, a_series_that_has_been_there_before_has_a_habit) {
  const auto p = [](std::initializer_list<std::size_t> at, double there = 0.3) {
    std::vector<double> levels = step(40, 2, 0.3);
    for (const std::size_t night : at) levels[night] = there;
    const SeriesHistory one = follow_series(nights(levels), {});
    EXPECT_EQ(one.changes.size(), 1u);
    return one.p;
  };
  EXPECT_NEAR(p({10, 25, 32}), 7 * 3.0 / 40 * 3 / 40, 1e-9);
  EXPECT_NEAR(p({10, 25}), 7 * 2.0 / 40 * 2 / 40, 1e-9);
  EXPECT_LT(p({10}), 1e-4);
  EXPECT_NEAR(p({10, 25}, 0.16), 7 * 2.0 / 40 * 2 / 40, 1e-9) << "more than half of the way";
  EXPECT_LT(p({10, 25}, 0.14), 1e-4);
}

TEST(NightVerdict, a_night_that_is_back_is_an_objection) {
  const auto of = [](double last) {
    std::vector<double> levels = step(20, 5, 0.3);
    levels.back() = last;
    return judged(nights(levels));
  };
  EXPECT_EQ(of(0).change, Change::undecided);
  EXPECT_EQ(of(0).reason, "some of its nights are back at the earlier level");
  EXPECT_EQ(of(0.14).reason, "some of its nights are back at the earlier level");
  EXPECT_EQ(of(0.16).change, Change::slower) << "more than half of the step is left";
}

TEST(NightVerdict, states_of_the_memory_are_one_within_a_tenth) {
  const auto of = [](double ln_ratio) {
    Series series = nights(step(20, 2, 0.3));
    for (SeriesRow& row : series.rows) {
      row.state.bytes_per_s = 8e10 * (row.run > 20 ? std::exp(ln_ratio) : 1);
    }
    return judged(series);
  };
  EXPECT_EQ(of(0.099).change, Change::slower);
  EXPECT_EQ(of(-0.099).change, Change::slower);
  EXPECT_EQ(of(0.101).reason, "the memory runs at a speed that no earlier night had");
  EXPECT_EQ(of(-0.101).reason, "the memory runs at a speed that no earlier night had");
}

TEST(NightVerdict, a_state_counts_that_any_earlier_night_had_and_each_later_one_needs) {
  Series series = nights(step(20, 2, 0.3));
  for (SeriesRow& row : series.rows) {
    if (row.run == 7) row.state.bytes_per_s = 4e10;
    if (row.run == 8) row.state.bytes_per_s = 8e10;
    if (row.run == 21) row.state.bytes_per_s = 4e10;
  }
  EXPECT_EQ(judged(series).change, Change::slower) << "of the last night nothing was seen";
  for (SeriesRow& row : series.rows) {
    if (row.run == 22) row.state.bytes_per_s = 2e10;
  }
  EXPECT_THAT(judged(series).reason, HasSubstr("a speed that no earlier night had"));
}

// One night before and one after: Student's t of one degree of freedom, 12.7062; the noise is
// 1.4826 x ln(1.1) / sqrt(2). With two nights before, also one degree; with three, two: 4.30265.
TEST(NightVerdict, the_step_of_the_last_night_has_an_interval_by_its_nights) {
  const HistoryRules rules{.nights_min = 1};
  const auto half = [](const SeriesHistory& one) {
    return std::log(one.interval.high / one.interval.low) / 2;
  };
  const SeriesHistory two = judged(nights({0, std::log(1.1)}, 0), rules);
  EXPECT_NEAR(two.noise, 1.4826 * std::log(1.1) / std::sqrt(2.0), 1e-5);
  EXPECT_NEAR(*two.ratio, 1.1, 1e-5);
  EXPECT_NEAR(half(two), 12.7062047 * two.noise * std::sqrt(2.0), 1e-6);
  EXPECT_NEAR(std::log(two.interval.high * two.interval.low), 2 * std::log(1.1), 1e-5);
  const SeriesHistory three = judged(nights({0, 0, 0.1}, 0.002), rules);
  EXPECT_NEAR(half(three), 12.7062047 * three.noise * std::sqrt(1 / 2.0 + 1), 1e-6);
  const SeriesHistory four = judged(nights({0, 0, 0, 0.1}, 0.002), rules);
  EXPECT_NEAR(half(four), 4.3026527 * four.noise * std::sqrt(1 / 3.0 + 1), 1e-6);
  // Nights that are equal still have a noise of a thousandth: t of 8 degrees is 2.3060041.
  const SeriesHistory calm = judged(nights(step(10, 0, 0), 0), {});
  EXPECT_LT(calm.noise, 1e-4);
  EXPECT_NEAR(half(calm), 2.3060041 * 1e-3 * std::sqrt(1 / 9.0 + 1), 1e-8);
}

// Differences of neighbours of 0.04: a noise of 1.4826 x 0.04 / sqrt(2) = 0.0419, three of them
// 0.1258; without noise 3 % are the limit, ln(1.03) = 0.02956.
TEST(NightVerdict, the_last_night_stands_out_beyond_the_floor_and_three_times_the_noise) {
  std::vector<double> levels(11, 0.0);
  levels[10] = 0.026;  // and an interval of 0.0024 on each side
  EXPECT_EQ(judged(nights(levels, 0)).change, Change::same);
  levels[10] = 0.029;
  EXPECT_THAT(judged(nights(levels, 0)).reason, HasSubstr("too wide to decide"));
  levels[10] = 0.0301;
  EXPECT_EQ(judged(nights(levels, 0)).change, Change::undecided);
  EXPECT_EQ(judged(nights(levels, 0)).reason,
            "the last night alone is 3.06 % off: another night, or a repeat of this one, decides");
  levels[10] = -0.0301;
  EXPECT_EQ(judged(nights(levels, 0)).change, Change::undecided);
  levels[10] = 0.10;  // and 0.02 more by turns
  EXPECT_EQ(judged(nights(levels, 0.02)).reason,
            "too wide to decide: its nights scatter by 4.2 %, and the floor is 3 %");
  levels[10] = 0.12;
  EXPECT_THAT(judged(nights(levels, 0.02)).reason, HasSubstr("the last night alone"));
}

// The last night is held against those behind the last change that both detectors saw.
TEST(NightVerdict, an_agreed_change_begins_the_nights_that_count) {
  std::vector<double> levels = step(20, 12, 0.3);
  EXPECT_EQ(judged(nights(levels)).change, Change::same);
  EXPECT_NEAR(*judged(nights(levels)).ratio, 1, 0.01);
  levels.push_back(0);
  EXPECT_EQ(judged(nights(levels)).change, Change::undecided);
  EXPECT_NEAR(*judged(nights(levels)).ratio, std::exp(-0.3), 0.01);
}

TEST(NightVerdict, tells_whether_the_build_is_the_same) {
  Series series = nights(step(20, 3, 0.3));
  EXPECT_TRUE(judged(series).is_of_one_build);
  for (SeriesRow& row : series.rows) {
    if (row.run > 20) row.build = "2 (bbbb)";
  }
  EXPECT_FALSE(judged(series).is_of_one_build);
}

// A memory of half the speed doubles the time of what waits for it alone; two thirds of the nights
// have the faster one.
TEST(NightVerdict, times_are_adjusted_to_the_usual_speed_of_the_memory) {
  Series series = nights(step(30, 0, 0), 0);
  for (SeriesRow& row : series.rows) {
    const bool is_slow = row.run % 3 == 0;
    row.state.bytes_per_s = is_slow ? 4e10 : 8e10;
    if (is_slow) row.ns *= 2;
  }
  const SeriesHistory one = judged(series);
  EXPECT_NEAR(one.machine.memory_share, 1, 0.01);
  for (const Night& night : one.nights) {
    EXPECT_NEAR(night.adjusted_ns, 1000, 3) << night.run;
    EXPECT_NEAR(night.ns, night.run % 3 == 0 ? 2000 : 1000, 1) << night.run;
    EXPECT_NEAR(*night.bytes_per_s, night.run % 3 == 0 ? 4e10 : 8e10, 1) << night.run;
    EXPECT_EQ(night.processes.size(), 3u);
  }
}

SeriesHistory moved(Change change, const std::string& reason = {}) {
  SeriesHistory out;
  out.change = change;
  out.reason = reason;
  out.ratio = 1.2;
  out.p = 0.3;
  return out;
}

TEST(NightVerdict, a_duet_replaces_what_the_nights_say) {
  StoredDuet slower{
      .run = 7,
      .old_build = "a",
      .new_build = "b",
      .verdict = {.change = Change::slower, .ratio = 1.05, .interval = {1.04, 1.06}, .p = 1e-6}};
  SeriesHistory one = moved(Change::same, "calm");
  apply_duet(one, slower);
  EXPECT_EQ(one.change, Change::undecided) << "until q is known";
  EXPECT_EQ(one.reason, "");
  EXPECT_EQ(one.ratio, 1.05);
  EXPECT_EQ(one.interval.low, 1.04);
  EXPECT_EQ(one.interval.high, 1.06);
  EXPECT_EQ(one.p, 1e-6);
  ASSERT_TRUE(one.duet);
  EXPECT_EQ(one.duet->run, 7);
  StoredDuet same = slower;
  same.verdict.change = Change::same;
  one = moved(Change::undecided, "alone");
  apply_duet(one, same);
  EXPECT_EQ(one.change, Change::same);
  EXPECT_EQ(one.p, 1);
  EXPECT_EQ(one.ratio, 1.05) << "what SAME rests on";
  EXPECT_EQ(one.interval.high, 1.06);
  EXPECT_EQ(one.reason, "") << "its nights were too wide to decide";
  one = moved(Change::undecided, "alone");
  one.stands_out = true;
  apply_duet(one, same);
  EXPECT_THAT(one.reason, HasSubstr("the machine drifted"));
  one = moved(Change::same);
  apply_duet(one, same);
  EXPECT_EQ(one.reason, "");
  StoredDuet open = slower;
  open.verdict = {.change = Change::undecided, .reason = "scatter"};
  one = moved(Change::same);
  apply_duet(one, open);
  EXPECT_EQ(one.change, Change::same);
  EXPECT_EQ(one.reason, "");
  one = moved(Change::waiting);
  apply_duet(one, open);
  EXPECT_EQ(one.change, Change::undecided);
  EXPECT_EQ(one.reason, "the interleaved pairs of both builds decide nothing: scatter");
}

TEST(NightVerdict, q_at_the_rate_is_called_and_what_is_invalid_is_left_out) {
  std::vector<SeriesHistory> night = {moved(Change::invalid, "few"), moved(Change::undecided),
                                      moved(Change::undecided, "why"), moved(Change::undecided),
                                      moved(Change::waiting, "young")};
  night[1].p = 0.005;
  night[2].p = 1;
  night[3].p = 0.012;
  night[3].ratio = 0.9;
  judge_night(night, {.false_discovery = 0.015});
  EXPECT_EQ(night[0].change, Change::invalid);
  EXPECT_EQ(night[0].reason, "few");
  EXPECT_EQ(night[0].q, 1);
  EXPECT_EQ(night[4].change, Change::waiting);
  EXPECT_EQ(night[4].q, 1) << "what has no verdict is no test among others";
  EXPECT_DOUBLE_EQ(night[1].q, 0.015);  // 3 x 0.005
  EXPECT_EQ(night[1].change, Change::slower);
  EXPECT_EQ(night[2].reason, "why");
  EXPECT_DOUBLE_EQ(night[3].q, 0.018);  // 3 / 2 x 0.012
  EXPECT_EQ(night[3].change, Change::undecided);
  EXPECT_EQ(night[3].reason, "it may be one of the chance findings among 3 series: q = 0.018");
  night[3].reason.clear();
  judge_night(night, {.false_discovery = 0.02});
  EXPECT_EQ(night[3].change, Change::faster);
}

}  // namespace
}  // namespace halmark::history
