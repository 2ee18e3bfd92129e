#include <gmock/gmock.h>

#include "history/night_order.hpp"
#include "history/nights.hpp"
#include "rows.hpp"
#include "stored.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::history {
namespace {

using testing::ElementsAre;
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

class NightOrder : public testing::Test {
 protected:
  // One night with processes of these times, by m.
  void night(const std::map<std::int64_t, std::vector<double>>& times) {
    const auto store = open_store(path_);
    last_ = store->begin_run({.command = "halmark tune",
                              .fingerprint = "class@host",
                              .started_utc = "2026-01-01T02:00:00Z"});
    for (const auto& [m, ns] : times) {
      for (std::size_t i = 0; i < ns.size(); ++i) {
        store->append(last_, test::measurement(m, ns[i], static_cast<int>(i)));
      }
    }
  }
  std::vector<KernelCase> cases(std::initializer_list<std::int64_t> ms) {
    std::vector<KernelCase> out;
    for (const std::int64_t m : ms) out.push_back(test::measurement(m, 1, 0).kernel_case);
    return out;
  }
  static std::vector<std::int64_t> ms_of(const std::vector<KernelCase>& kernels) {
    std::vector<std::int64_t> out;
    for (const KernelCase& k : kernels) out.push_back(*k.problem.params.find("m"));
    return out;
  }
  std::vector<std::int64_t> order(std::initializer_list<std::int64_t> ms, std::int64_t run,
                                  const std::string& fingerprint = "class@host") {
    return ms_of(night_order(cases(ms), *open_store_read_only(path_), fingerprint, run));
  }
  std::vector<std::int64_t> turns(std::initializer_list<std::int64_t> ms) {
    return ms_of(moved_first(cases(ms), *open_store_read_only(path_), "class@host", last_));
  }
  halmark::test::ScratchFolder folder_;
  std::string path_ = folder_ / "a.db";
  std::int64_t last_ = 0;
};

TEST_F(NightOrder, new_then_moved_then_long_unseen_then_scattered) {
  night({{1, {100, 101}}, {2, {100, 101}}, {3, {100, 101}}, {4, {100, 120}}});
  night({{1, {100, 101}}, {2, {100, 101}}, {4, {100, 120}}});
  night({{1, {100, 101}}, {2, {150, 151}}, {4, {100, 120}}});
  EXPECT_THAT(order({1, 2, 3, 4, 5}, 4), ElementsAre(5, 2, 3, 4, 1));
}

TEST_F(NightOrder, pairs_are_asked_of_what_no_pair_of_the_build_has_decided) {
  night({{1, {100, 101}}, {2, {100, 101}}, {3, {100, 101}}});
  {
    const auto store = open_store(path_);
    store->append(last_, RunMachine{.lines = {}, .build = "bbbb0000"});
    Duet duet{.kernel_case = cases({1})[0], .old_build = "aaaa", .new_build = "bbbb"};
    duet.log_ratios.assign(10, 0.0);
    store->append(last_, duet);
    duet.kernel_case = cases({2})[0];
    duet.new_build = "cccc";
    store->append(last_, duet);
  }
  night({});
  EXPECT_THAT(ms_of(undecided(cases({1, 2, 3}), *open_store_read_only(path_), "class@host", last_)),
              ElementsAre(2, 3))
      << "2 was asked of another build";
}

TEST_F(NightOrder, the_night_itself_and_other_machines_are_not_looked_at) {
  night({{1, {100, 101}}, {2, {100, 101}}});
  night({{1, {150, 151}}});
  EXPECT_THAT(order({1, 2}, 2), ElementsAre(1, 2));
  EXPECT_THAT(order({1, 2}, 3, "class@other"), ElementsAre(1, 2));
  EXPECT_THAT(order({2, 1}, 3), ElementsAre(1, 2));
}

TEST_F(NightOrder, what_takes_turns_first_is_what_moved_most) {
  night({{1, {100}}, {2, {100}}, {3, {100}}});
  night({{1, {100}}, {2, {100}}, {3, {100}}});
  night({{1, {104}}, {2, {90}}, {3, {100}}, {4, {100}}});
  EXPECT_THAT(turns({3, 1, 2, 4, 5}), ElementsAre(2, 1, 3, 4));
}

// As far back as thirty nights; the order among equals is the one given.
TEST_F(NightOrder, looks_thirty_nights_back) {
  night({{1, {100, 101}}});
  for (int i = 0; i < 29; ++i) night({{2, {100, 101}}});
  { EXPECT_THAT(order({2, 1, 3}, last_ + 1), ElementsAre(3, 1, 2)) << "long unseen, but seen"; }
  night({{2, {100, 101}}});
  night({{2, {100, 101}}});
  EXPECT_THAT(order({3, 2, 1}, last_ + 1), ElementsAre(3, 1, 2)) << "1 is as new as 3";
}

// A step is news from 3 % on, or beyond what its nights have been apart before.
TEST_F(NightOrder, a_step_counts_beyond_the_floor_and_the_noise_of_its_nights) {
  for (const double ns : {90.0, 112.0, 100.0}) night({{1, {100}}, {2, {100}}, {3, {ns}}});
  night({{1, {102.9}}, {2, {103.2}}, {3, {110}}});
  EXPECT_THAT(order({1, 3, 2}, last_ + 1), ElementsAre(2, 1, 3));
}

// Failed rows and rows without a time say nothing: the kernel stays new.
TEST_F(NightOrder, what_has_no_time_was_never_measured) {
  night({{1, {100}}, {2, {100}}});
  {
    const auto store = open_store(path_);
    Measurement failed = test::measurement(3, 100, 0);
    failed.status = Status::crashed;
    store->append(last_, failed);
    store->append(last_, test::measurement(4, 0, 0));
    store->append(last_, test::measurement(5, 100, 0));
  }
  EXPECT_THAT(order({1, 5, 4, 2, 3}, last_ + 1), ElementsAre(4, 3, 1, 5, 2));
}

// With one night before, the noise is that within the last night, half of ln(1.2) = 0.0912; from
// 101 the step is 0.0812, from 99 it is 0.1012.
TEST_F(NightOrder, of_two_nights_the_second_tells_the_noise) {
  night({{1, {100}}, {2, {101}}, {3, {100}}, {4, {99}}});
  night({{1, {100, 100}}, {2, {100, 120}}, {3, {105, 105}}, {4, {100, 120}}});
  EXPECT_THAT(order({1, 2, 3, 4}, last_ + 1), ElementsAre(4, 3, 2, 1));
}

// What is left out does not end the list: no time in this night, or none at all.
TEST_F(NightOrder, what_takes_turns_has_a_time_in_this_night) {
  night({{1, {100}}, {2, {100}}, {3, {100}}, {6, {100}}});
  night({{1, {100}}, {2, {100}}, {3, {100}}, {6, {100}}});
  night({{1, {104}}, {3, {100}}, {4, {100}}});
  {
    const auto store = open_store(path_);
    Measurement failed = test::measurement(2, 100, 0);
    failed.status = Status::crashed;
    failed.reason = "gone";
    store->append(last_, failed);
    Measurement suspect = test::measurement(6, 200, 0);
    suspect.status = Status::suspect;
    store->append(last_, suspect);
  }
  EXPECT_THAT(turns({2, 5, 6, 4, 3, 1}), ElementsAre(1, 3, 6, 4))
      << "of 6 nothing is sound in this night, of 4 there is no night before";
}

}  // namespace
}  // namespace halmark::history
