#include "history/nights.hpp"

#include <gmock/gmock.h>

#include "rows.hpp"

namespace halmark::history {
namespace {

using testing::HasSubstr;

struct Made {
  int nights = 40;
  double noise = 0.008;     // of a process
  double step = 0;          // of the code
  int step_at = 1000;       // first night of it
  double memory_share = 0;  // of the time that waits for the memory
  std::uint64_t seed = 1;
};

// Three processes a night; the memory loses 45 % every few nights.
Series made(const Made& m) {
  Series out{.name = {.what = "gemm", .fingerprint = "machine"}};
  for (int night = 0; night < m.nights; ++night) {
    const double speed = (night / 3) % 3 == 1 ? 4.4e10 : 8e10;
    for (int round = 0; round < 3; ++round) {
      const auto counter = static_cast<std::uint64_t>(night * 3 + round);
      const double code = night < m.step_at ? 1 : 1 + m.step;
      const double ns = 1000 * code * std::pow(8e10 / speed, m.memory_share) *
                        std::exp(m.noise * test::normal(m.seed, counter));
      out.rows.push_back(test::row(night + 1, round, ns));
      out.rows.back().build = night < m.step_at ? "1 (old)" : "1 (new)";
      out.rows.back().state.bytes_per_s =
          speed * std::exp(0.04 * test::normal(m.seed + 7, counter));
    }
  }
  return out;
}

SeriesHistory judged(const Series& series, const HistoryRules& rules = {}) {
  std::vector<SeriesHistory> out = {follow_series(series, rules)};
  judge_night(out, rules);
  return out.front();
}

TEST(Nights, a_slowdown_is_slower_on_its_second_night_and_undecided_on_its_first) {
  const SeriesHistory first = judged(made({.nights = 41, .step = 0.06, .step_at = 40}));
  EXPECT_EQ(first.change, Change::undecided);
  EXPECT_THAT(first.reason, HasSubstr("the last night alone"));
  const SeriesHistory second = judged(made({.nights = 42, .step = 0.06, .step_at = 40}));
  EXPECT_EQ(second.change, Change::slower);
  EXPECT_NEAR(*second.ratio, 1.06, 0.01);
  EXPECT_LT(second.interval.low, 1.06);
  EXPECT_GT(second.interval.high, 1.06);
  EXPECT_GT(second.noise, 1e-3);
  constexpr double t = 2.021075390306273;  // two-sided, 5 %, of 40 degrees of freedom
  EXPECT_NEAR(std::log(second.interval.high / second.interval.low) / 2,
              t * second.noise * std::sqrt(1.0 / 40 + 1.0 / 2), 1e-9);
  ASSERT_EQ(second.changes.size(), 1u);
  EXPECT_EQ(second.nights[second.changes[0].at].build, "1 (new)");
  EXPECT_EQ(judged(made({.nights = 42, .step = -0.06, .step_at = 40})).change, Change::faster);
}

TEST(Nights, a_slowdown_is_found_through_the_regimes_of_the_memory) {
  const SeriesHistory raw =
      judged(made({.nights = 42, .step = 0.06, .step_at = 40, .memory_share = 0.8}));
  EXPECT_EQ(raw.change, Change::slower);
  EXPECT_NEAR(raw.machine.memory_share, 0.8, 0.05);
}

TEST(Nights, regimes_alone_change_nothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SeriesHistory one = judged(made({.memory_share = 1, .seed = seed}));
    EXPECT_NE(one.change, Change::slower) << seed;
    EXPECT_NE(one.change, Change::faster) << seed;
  }
}

TEST(Nights, a_change_below_the_floor_is_same_and_the_floor_can_be_set) {
  const Series series = made({.nights = 44, .noise = 0.002, .step = 0.02, .step_at = 40});
  EXPECT_EQ(judged(series).change, Change::same);
  EXPECT_EQ(judged(series, {.floor = 0.01}).change, Change::slower);
}

TEST(Nights, rows_that_count_for_nothing_are_left_out) {
  Series series = made({});
  for (SeriesRow& row : series.rows) {
    if (row.round == 1) {
      row.ns = 0;
      row.fault = "invalid: disturbed";
    }
    if (row.run == 7) row.fault = "crashed";
  }
  const SeriesHistory one = judged(series);
  EXPECT_EQ(one.nights.size(), 39u);
  EXPECT_EQ(one.nights[0].processes.size(), 2u);
  EXPECT_EQ(one.change, Change::same);
}

TEST(Nights, suspect_rows_make_no_alert) {
  Series series = made({.nights = 42, .step = 0.2, .step_at = 40});
  for (SeriesRow& row : series.rows) {
    if (row.run > 40) row.doubt = "run-queue delay";
  }
  EXPECT_EQ(judged(series).change, Change::same);
  EXPECT_EQ(judged(series).nights.size(), 40u);
}

// Whatever the noise of nights: SAME has its interval within the floor, and what is wider says so.
TEST(Nights, same_is_said_only_where_the_interval_lies_within_the_floor) {
  int same = 0, undecided = 0;
  for (const double noise : {0.002, 0.008, 0.02, 0.06, 0.15}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const SeriesHistory one = judged(made({.nights = 12, .noise = noise, .seed = seed}));
      const bool is_within = one.ratio && one.interval.low >= 1 / 1.03 && one.interval.high <= 1.03;
      EXPECT_EQ(one.change == Change::same, is_within) << noise << ' ' << seed;
      same += one.change == Change::same ? 1 : 0;
      if (one.change != Change::undecided) continue;
      ++undecided;
      EXPECT_NE(one.reason, "") << noise << ' ' << seed;
    }
  }
  EXPECT_GT(same, 20);
  EXPECT_GT(undecided, 50);
  const SeriesHistory wide = judged(made({.nights = 12, .noise = 0.15}));
  EXPECT_EQ(wide.change, Change::undecided);
  EXPECT_THAT(wide.reason, HasSubstr("%, and the floor is 3 %"));
}

// The same p among many quiet series is no discovery.
TEST(Nights, all_series_of_a_night_share_the_control) {
  SeriesHistory one;
  one.change = Change::undecided;
  one.ratio = 1.05;
  one.p = 1e-3;
  SeriesHistory quiet;
  quiet.change = Change::same;
  std::vector<SeriesHistory> few = {one, quiet}, many(500, quiet);
  many[0] = one;
  judge_night(few, {});
  judge_night(many, {});
  EXPECT_EQ(few[0].change, Change::slower);
  EXPECT_EQ(many[0].change, Change::undecided);
  EXPECT_THAT(many[0].reason, HasSubstr("500 series"));
}

}  // namespace
}  // namespace halmark::history
