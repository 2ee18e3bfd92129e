// Verdicts over changes that are stated here: both sides of each limit.
#include <gtest/gtest.h>

#include "history/comparison.hpp"

namespace halmark::history {
namespace {

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
