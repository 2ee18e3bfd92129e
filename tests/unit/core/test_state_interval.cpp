// An interval holds for a state of the machine; for another the part that waits for what moved is
// scaled.
#include "core/measured/state_interval.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/json/json.hpp"

namespace halmark {
namespace {

StateInterval interval_at_40_gb_per_s(double memory_ns) {
  return {.state = {40e9, {}}, .step_ns = 100, .memory_ns = memory_ns, .ns = {90, 110}};
}

TEST(StateInterval, holds_within_a_tenth_of_its_state) {
  const StateInterval interval = interval_at_40_gb_per_s(80);
  EXPECT_TRUE(interval.holds_at({40e9 * 1.09, {}}));
  EXPECT_TRUE(interval.holds_at({40e9 * 0.91, {}}));
  EXPECT_FALSE(interval.holds_at({40e9 * 1.15, {}}));
  EXPECT_FALSE(interval.holds_at({40e9 * 0.85, {}}));
}

// 20 ns compute, 80 ns wait. At half the speed these are 160, if they follow in full; 80, if not at
// all: the middle, and doubt about that.
TEST(StateInterval, follows_half_of_a_move_of_the_memory_and_doubts_it) {
  const Interval slow = interval_at_40_gb_per_s(80).at({20e9, {}});
  EXPECT_NEAR((slow.low + slow.high) / 2, 140, 1e-9);
  EXPECT_NEAR((slow.high - slow.low) / 2, std::hypot(14, 20), 1e-9);
  const Interval fast = interval_at_40_gb_per_s(80).at({80e9, {}});
  EXPECT_NEAR((fast.low + fast.high) / 2, 80, 1e-9);
  EXPECT_NEAR((fast.high - fast.low) / 2, std::hypot(8, 10), 1e-9);
}

TEST(StateInterval, of_a_step_that_only_computes_is_the_same_in_every_state) {
  const Interval slow = interval_at_40_gb_per_s(0).at({10e9, {}});
  EXPECT_DOUBLE_EQ(slow.low, 90);
  EXPECT_DOUBLE_EQ(slow.high, 110);
}

// 60 ns of 100 wait for cores that run at 75 %: 20 ns more if they follow in full.
TEST(StateInterval, follows_half_of_a_move_of_the_cores_and_doubts_it) {
  StateInterval interval = interval_at_40_gb_per_s(0);
  interval.state.flops_per_s = 100e9;
  interval.compute_ns = 60;
  EXPECT_TRUE(interval.holds_at({40e9, 92e9}));
  EXPECT_FALSE(interval.holds_at({40e9, 75e9}));
  const Interval slow = interval.at({40e9, 75e9});
  EXPECT_NEAR((slow.low + slow.high) / 2, 110, 1e-9);
  EXPECT_NEAR((slow.high - slow.low) / 2, std::hypot(11, 5), 1e-9);
}

TEST(StateInterval, probes_of_another_type_or_none_tell_nothing_of_the_cores) {
  StateInterval interval = interval_at_40_gb_per_s(0);
  interval.compute_ns = 60;
  for (const auto& said : {std::optional<double>(), std::optional(100e9)}) {
    interval.state.flops_per_s = said;
    EXPECT_TRUE(interval.holds_at({40e9, 400e9}));
    EXPECT_TRUE(interval.holds_at({40e9, {}}));
    EXPECT_DOUBLE_EQ(interval.at({40e9, 400e9}).high, 110);
  }
}

TEST(StateInterval, is_read_back_as_it_was_written) {
  StateInterval before = interval_at_40_gb_per_s(80);
  before.state.flops_per_s = 90e9;
  before.compute_ns = 15;
  const auto after = Json(before).get<StateInterval>();
  EXPECT_EQ(after.state.bytes_per_s, before.state.bytes_per_s);
  EXPECT_EQ(after.state.flops_per_s, before.state.flops_per_s);
  EXPECT_EQ(after.compute_ns, before.compute_ns);
  EXPECT_EQ(after.step_ns, before.step_ns);
  EXPECT_EQ(after.memory_ns, before.memory_ns);
  EXPECT_EQ(after.ns.low, before.ns.low);
  EXPECT_EQ(after.ns.high, before.ns.high);
}

TEST(CoreSpeedRatio, tells_nothing_beyond_twice_or_half) {
  EXPECT_EQ(core_speed_ratio(1, 2), 2);
  EXPECT_EQ(core_speed_ratio(2, 1), 0.5);
  EXPECT_FALSE(core_speed_ratio(1, 2.01));
  EXPECT_FALSE(core_speed_ratio(2.01, 1));
  EXPECT_FALSE(core_speed_ratio(0, 1));
  EXPECT_FALSE(core_speed_ratio(1, 0));
  EXPECT_FALSE(core_speed_ratio({}, 1));
  EXPECT_FALSE(core_speed_ratio(1, {}));
}

TEST(StateInterval, of_several_steps_is_as_many_times_as_long) {
  StateInterval one = interval_at_40_gb_per_s(80);
  one.compute_ns = 15;
  const StateInterval three = one.times(3);
  EXPECT_EQ(three.step_ns, 300);
  EXPECT_EQ(three.memory_ns, 240);
  EXPECT_EQ(three.compute_ns, 45);
  EXPECT_EQ(three.ns.low, 270);
  EXPECT_EQ(three.ns.high, 330);
  EXPECT_EQ(three.state.bytes_per_s, 40e9);
}

TEST(StateInterval, never_begins_below_zero) {
  StateInterval wide = interval_at_40_gb_per_s(0);
  wide.ns = {-200, 400};
  EXPECT_EQ(wide.at({40e9, {}}).low, 0);
  EXPECT_EQ(wide.at({40e9, {}}).high, 400);
}

}  // namespace
}  // namespace halmark
