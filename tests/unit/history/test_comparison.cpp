#include <gmock/gmock.h>

#include "history/comparison.hpp"
#include "rows.hpp"

namespace halmark::history {
namespace {

using testing::HasSubstr;

SeriesChange judged(const Series& before, const Series& after, const ComparisonRules& rules = {}) {
  std::vector<SeriesChange> out = {compare_series(before, after, rules)};
  judge_changes(out, rules);
  return out.front();
}

void set_memory(Series& series, double bytes_per_s) {
  for (SeriesRow& row : series.rows) row.state.bytes_per_s = bytes_per_s;
}

// mpmath at 40 digits: Welch's t 7.5201 of the logarithms with 4.8843 degrees of freedom.
TEST(Comparison, is_welch_on_logarithms) {
  const SeriesChange c = judged(test::series({100, 101, 102}), test::series({106, 108, 107, 109}));
  EXPECT_NEAR(*c.ratio, 1.064333648070325589, 1e-12);
  EXPECT_NEAR(c.p, 0.000728901546544489989, 1e-12);
  EXPECT_NEAR(c.interval.low, 1.041730914534132414, 1e-10);
  EXPECT_NEAR(c.interval.high, 1.087426799579318027, 1e-10);
  EXPECT_EQ(c.change, Change::slower);
  EXPECT_EQ(c.unit, Unit::processes);
  EXPECT_EQ(c.units_before, 3);
  EXPECT_EQ(c.units_after, 4);
}

TEST(Comparison, the_same_change_backwards_is_faster) {
  const SeriesChange c = judged(test::series({106, 108, 107, 109}), test::series({100, 101, 102}));
  EXPECT_EQ(c.change, Change::faster);
  EXPECT_NEAR(*c.ratio, 1 / 1.064333648070325589, 1e-12);
}

TEST(Comparison, what_computed_before_and_breaks_in_every_row_has_failed) {
  const Series sound = test::series({100, 101, 102});
  Series broken = sound;
  for (SeriesRow& row : broken.rows) {
    row.fault = "wrong_result: element 3";
    row.is_broken = true;
  }
  const SeriesChange c = judged(sound, broken);
  EXPECT_EQ(c.change, Change::failed);
  EXPECT_THAT(c.reason, HasSubstr("wrong_result: element 3"));
  EXPECT_FALSE(c.ratio);
  EXPECT_EQ(judged(broken, sound).change, Change::invalid) << "it is repaired";
  EXPECT_EQ(judged(broken, broken).change, Change::invalid) << "it is no worse";
  broken.rows[1].is_broken = false;
  EXPECT_EQ(judged(sound, broken).change, Change::invalid) << "one of them was noise";
}

// A busy neighbour makes rows suspect: they may say that nothing changed, never that something did.
TEST(Comparison, suspect_rows_make_nothing_slower) {
  const Series before = test::series({100, 101, 102});
  Series after = test::series({120, 121, 122});
  for (SeriesRow& row : after.rows) row.doubt = "steal above 0.02";
  const SeriesChange c = judged(before, after);
  EXPECT_EQ(c.change, Change::undecided);
  EXPECT_EQ(c.reason, "suspect rows: steal above 0.02");
  for (const double ns : {119.0, 120.0, 121.0}) after.rows.push_back(test::row(1, 3, ns));
  EXPECT_EQ(judged(before, after).change, Change::slower);  // enough sound ones beside them
  EXPECT_EQ(judged(before, after).units_after, 3);
  Series same = test::series({100, 100.1, 100.2});
  for (SeriesRow& row : same.rows) row.doubt = "steal above 0.02";
  EXPECT_EQ(judged(same, same).change, Change::same);
}

// The same times, once while the memory kept its speed and once while it lost a third of it.
TEST(Comparison, what_the_memory_explains_is_not_the_codes) {
  Series before = test::series({100, 101, 102}), after = test::series({140, 141, 142});
  set_memory(before, 8e10);
  set_memory(after, 7.5e10);  // within what single probes scatter
  EXPECT_EQ(judged(before, after).change, Change::slower);
  set_memory(after, 5e10);
  const SeriesChange c = judged(before, after);
  EXPECT_EQ(c.change, Change::undecided);
  EXPECT_THAT(c.reason, HasSubstr("the memory ran at 62.5 % of its earlier speed"));
  EXPECT_LT(c.interval.low, 1);
  // More than all that a slower memory does is the code's again.
  Series worse = test::series({240, 241, 242});
  set_memory(worse, 5e10);
  EXPECT_EQ(judged(before, worse).change, Change::slower);
}

// Processes of one run share its hour: three runs that differ by 4 % among themselves are not three
// times three independent figures.
TEST(Comparison, runs_are_the_units_where_both_sides_have_several) {
  Series before, after;
  for (const auto& [run, ns] : {std::pair(1, 100.0), {2, 104.0}, {3, 96.0}}) {
    for (const double jitter : {-0.1, 0.0, 0.1}) {
      before.rows.push_back(test::row(run, 0, ns + jitter));
      after.rows.push_back(test::row(run + 10, 0, 1.05 * ns + jitter));
    }
  }
  const SeriesChange c = judged(before, after);
  EXPECT_EQ(c.unit, Unit::runs);
  EXPECT_EQ(c.units_before, 3);
  EXPECT_EQ(c.change, Change::undecided);
}

TEST(Comparison, processes_are_the_units_where_a_side_is_of_one_run) {
  const Series one = test::series({100, 101, 102});
  Series several = test::series({106, 108, 107});
  several.rows.push_back(test::row(2, 0, 109));
  for (const auto& [before, after] : {std::pair(one, several), std::pair(several, one)}) {
    const SeriesChange c = judged(before, after);
    EXPECT_EQ(c.unit, Unit::processes);
    EXPECT_EQ(c.units_before, static_cast<int>(before.rows.size()));
    EXPECT_EQ(c.units_after, static_cast<int>(after.rows.size()));
  }
}

// Equal distributions, 500 series a time: comparisons in which anything is called.
TEST(Comparison, equal_sides_are_seldom_called_different) {
  constexpr int comparisons = 100, series_count = 100;
  int wrong = 0;
  for (int n = 0; n < comparisons; ++n) {
    std::vector<SeriesChange> changes;
    for (int s = 0; s < series_count; ++s) {
      std::vector<double> a, b;
      for (std::uint64_t i = 0; i < 5; ++i) {
        const auto seed = static_cast<std::uint64_t>(n * series_count + s);
        a.push_back(100 * std::exp(0.02 * test::normal(seed, 2 * i)));
        b.push_back(100 * std::exp(0.02 * test::normal(seed, 2 * i + 1)));
      }
      changes.push_back(compare_series(test::series(a), test::series(b), {}));
    }
    judge_changes(changes, {});
    for (const SeriesChange& c : changes) {
      if (c.change == Change::slower || c.change == Change::faster) {
        ++wrong;
        break;
      }
    }
  }
  // 1 % of the comparisons in expectation, by the control; 5 or more have a probability below 1 %.
  EXPECT_LE(wrong, 4);
}

// Equal processes still differ by spread_min: t(0.975, 4) = 2.776445 x 0.001 x sqrt(2 / 3).
TEST(Comparison, equal_processes_are_no_surer_than_clocks_are) {
  const SeriesChange c = judged(test::series({100, 100, 100}), test::series({110, 110, 110}));
  EXPECT_NEAR(std::log(c.interval.high / 1.1), 2.776445105 * 1e-3 * std::sqrt(2.0 / 3), 1e-9);
  EXPECT_NEAR(std::log(c.interval.low / 1.1), -2.776445105 * 1e-3 * std::sqrt(2.0 / 3), 1e-9);
}

TEST(Comparison, times_are_geometric_means_and_states_are_medians) {
  Series before = test::series({100, 200, 400}), after = test::series({100, 300, 900});
  for (std::size_t i = 0; i < 3; ++i) {
    before.rows[i].state = {.bytes_per_s = 1e10 * static_cast<double>(i + 1), .clock_hz = 2e9};
    after.rows[i].state = {.bytes_per_s = 1.5e10, .clock_hz = 3e9};
  }
  SeriesChange c = compare_series(before, after, {});
  EXPECT_NEAR(*c.before_ns, 200, 1e-9);
  EXPECT_NEAR(*c.after_ns, 300, 1e-9);
  EXPECT_NEAR(*c.memory_ratio, 0.75, 1e-12);
  EXPECT_NEAR(*c.clock_ratio, 1.5, 1e-12);
  for (Series* side : {&before, &after}) {
    Series other = *side;
    for (SeriesRow& row : other.rows) row.state = {.bytes_per_s = 0, .clock_hz = std::nullopt};
    c = side == &before ? compare_series(other, after, {}) : compare_series(before, other, {});
    EXPECT_FALSE(c.memory_ratio) << "a speed of nothing is none";
    EXPECT_FALSE(c.clock_ratio);
  }
}

// Halves of 95 % intervals add by their squares: ln(102 / 98) / 2 = 0.0200027 and ln(122 / 118) / 2
// = 0.0166682 give 0.0260371; those of no width are 1.96 x 0.001 wide on either side.
TEST(Comparison, composed_intervals_add_by_their_squares) {
  const auto half = [](Interval first, Interval second) {
    Series before = test::series({100}), after = test::series({120});
    before.rows[0].interval_ns = first;
    after.rows[0].interval_ns = second;
    const SeriesChange c = judged(before, after);
    EXPECT_NEAR(std::log(c.interval.high * c.interval.low), 2 * std::log(1.2), 1e-9);
    return std::log(c.interval.high / c.interval.low) / 2;
  };
  EXPECT_NEAR(half({98, 102}, {118, 122}), 0.0260371, 1e-6);
  EXPECT_NEAR(half({100, 100}, {120, 120}), 1.959964e-3 * std::sqrt(2.0), 1e-7);
}

TEST(Comparison, the_latest_composed_figure_of_a_side_counts) {
  Series before = test::series({90, 100, 50, 60, 70}), after = test::series({120});
  before.rows[0].interval_ns = Interval{88, 92};
  before.rows[1].interval_ns = Interval{98, 102};
  before.rows[2].interval_ns = Interval{49, 51};
  before.rows[2].fault = "crashed";
  before.rows[3].interval_ns = Interval{0, 61};
  after.rows[0].interval_ns = Interval{118, 122};
  const SeriesChange c = judged(before, after);
  EXPECT_EQ(c.unit, Unit::intervals);
  EXPECT_EQ(c.units_before, 1);
  EXPECT_EQ(c.units_after, 1);
  EXPECT_NEAR(*c.before_ns, 100, 1e-9) << "neither without an interval, nor lost, nor from 0 on";
}

TEST(Comparison, the_side_that_lacks_rows_is_named_with_what_it_lost) {
  const Series enough = test::series({100, 101, 102});
  Series one = test::series({100});
  one.rows[0].fault = "crashed";
  EXPECT_EQ(judged(one, enough).reason,
            "the first side has 0 usable of 1 row, and 3 are needed: crashed");
  EXPECT_EQ(judged(one, enough).change, Change::invalid);
  EXPECT_FALSE(judged(one, enough).ratio);
  EXPECT_EQ(judged(test::series({100, 101}), enough).reason,
            "the first side has 2 usable of 2 rows, and 3 are needed");
  EXPECT_EQ(judged(enough, test::series({100, 101})).reason,
            "the second side has 2 usable of 2 rows, and 3 are needed");
}

TEST(Comparison, the_first_doubt_is_told) {
  Series before = test::series({100, 101, 102}), after = test::series({120, 121, 122});
  for (SeriesRow& row : after.rows) row.doubt = "second";
  EXPECT_EQ(judged(before, after).doubt, "second");
  before.rows[1].doubt = "first";
  EXPECT_EQ(judged(before, after).doubt, "first");
  before.rows[0].doubt = "lost";
  before.rows[0].fault = "crashed";
  before.rows.push_back(test::row(1, 3, 103));
  EXPECT_EQ(judged(before, after).doubt, "first") << "a row that counts for nothing has no doubt";
}

// Verdicts over changes that are stated here: both sides of each limit.

SeriesChange change(double ratio, Interval interval) {
  SeriesChange out{.change = Change::undecided, .ratio = ratio, .interval = interval, .p = 0.01};
  return out;
}

Change verdict(SeriesChange one, const ComparisonRules& rules) {
  std::vector<SeriesChange> all = {std::move(one)};
  judge_changes(all, rules);
  return all[0].change;
}

// A floor of 100 %: twice or half the time.
TEST(ComparisonVerdict, includes_the_floor_and_the_rate_of_false_discoveries) {
  const ComparisonRules rules{.floor = 1};
  EXPECT_EQ(verdict(change(2, {1.5, 2.5}), rules), Change::slower);
  EXPECT_EQ(verdict(change(1.99, {1.5, 2.5}), rules), Change::undecided);
  EXPECT_EQ(verdict(change(0.5, {0.4, 0.7}), rules), Change::faster);
  EXPECT_EQ(verdict(change(0.51, {0.4, 0.7}), rules), Change::undecided);
  EXPECT_EQ(verdict(change(2, {1, 4}), rules), Change::undecided) << "1 is in it";
  EXPECT_EQ(verdict(change(0.5, {0.2, 1}), rules), Change::undecided);
  EXPECT_EQ(verdict(change(1, {0.5, 2}), rules), Change::same);
  EXPECT_EQ(verdict(change(1, {0.49, 2}), rules), Change::undecided);
  EXPECT_EQ(verdict(change(1, {0.5, 2.01}), rules), Change::undecided);
  EXPECT_EQ(verdict(change(2, {1.5, 2.5}), {.floor = 1, .false_discovery = 0.009}),
            Change::undecided)
      << "q is 0.01";
}

// Half the speed may have doubled the time, and may have done nothing.
TEST(ComparisonVerdict, takes_from_a_change_all_that_the_machine_may_have_done) {
  const ComparisonRules rules{.floor = 1};
  const auto moved = [&](double ratio, Interval interval, std::optional<double> memory,
                         std::optional<double> clock) {
    SeriesChange one = change(ratio, interval);
    one.memory_ratio = memory;
    one.clock_ratio = clock;
    return verdict(one, rules);
  };
  EXPECT_EQ(moved(4, {1.5, 5}, 0.5, {}), Change::slower);
  EXPECT_EQ(moved(3.99, {1.5, 5}, 0.5, {}), Change::undecided);
  EXPECT_EQ(moved(2, {1.5, 5}, 2, {}), Change::slower) << "a faster memory slows nothing down";
  EXPECT_EQ(moved(0.25, {0.2, 0.7}, 2, {}), Change::faster);
  EXPECT_EQ(moved(0.26, {0.2, 0.7}, 2, {}), Change::undecided);
  EXPECT_EQ(moved(8.01, {1.5, 9}, 0.5, 0.5), Change::slower) << "both add up";
  EXPECT_EQ(moved(7.9, {1.5, 9}, 0.5, 0.5), Change::undecided);
  EXPECT_EQ(moved(0.1249, {0.1, 0.7}, 2, 2), Change::faster);
  EXPECT_EQ(moved(0.13, {0.1, 0.7}, 2, 2), Change::undecided);
}

TEST(ComparisonVerdict, says_which_state_of_the_machine_moved) {
  const ComparisonRules rules{.same_memory = 0.125, .same_clock = 0.03125};
  const auto reason = [&](std::optional<double> memory, std::optional<double> clock) {
    SeriesChange one = change(1.1, {0.5, 2});
    one.memory_ratio = memory;
    one.clock_ratio = clock;
    std::vector<SeriesChange> all = {one};
    judge_changes(all, rules);
    return all[0].reason;
  };
  EXPECT_EQ(reason(0.5, 1.5),
            "the memory ran at 50 % of its earlier speed and the clock ran at 150 % of its earlier "
            "speed: compare in one state of the machine");
  EXPECT_EQ(reason(1.125, 0.5),
            "the clock ran at 50 % of its earlier speed: compare in one state of the machine");
  EXPECT_EQ(reason(1.5, 1.03125),
            "the memory ran at 150 % of its earlier speed: compare in one state of the machine");
  EXPECT_EQ(reason(1.125, 1.03125), "too wide to decide: measure more rounds or runs");
  EXPECT_EQ(reason({}, {}), "too wide to decide: measure more rounds or runs");
}

// q of 0.01 and 0.04 of two: 0.02 and 0.04.
TEST(ComparisonVerdict, leaves_what_is_invalid_out_of_the_control) {
  std::vector<SeriesChange> all = {{.reason = "lost"}, change(2, {1.5, 2.5}), {}};
  all.push_back(change(2, {1.5, 2.5}));
  all[3].p = 0.04;
  judge_changes(all, {.false_discovery = 0.03});
  EXPECT_EQ(all[0].change, Change::invalid);
  EXPECT_EQ(all[0].q, 1);
  EXPECT_EQ(all[0].reason, "lost");
  EXPECT_DOUBLE_EQ(all[1].q, 0.02);
  EXPECT_EQ(all[1].change, Change::slower);
  EXPECT_DOUBLE_EQ(all[3].q, 0.04);
  EXPECT_EQ(all[3].change, Change::undecided);
}

TEST(ComparisonVerdict, has_names_and_an_order_in_lists) {
  EXPECT_LT(urgency(Change::slower), urgency(Change::faster));
  EXPECT_LT(urgency(Change::faster), urgency(Change::undecided));
  EXPECT_LT(urgency(Change::undecided), urgency(Change::invalid));
  EXPECT_LT(urgency(Change::invalid), urgency(Change::same));
  EXPECT_EQ(unit_name(Unit::runs), "runs");
}

}  // namespace
}  // namespace halmark::history
