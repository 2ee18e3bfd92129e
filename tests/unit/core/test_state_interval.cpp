// An interval holds for a state of the memory; for another the part that waits for it is scaled.
#include "core/state_interval.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/json/json.hpp"

namespace halmark {
namespace {

StateInterval interval_at_40_gb_per_s(double memory_ns) {
  return {.bytes_per_s = 40e9, .step_ns = 100, .memory_ns = memory_ns, .ns = {90, 110}};
}

TEST(StateInterval, holds_within_a_tenth_of_its_state) {
  const StateInterval interval = interval_at_40_gb_per_s(80);
  EXPECT_TRUE(interval.holds_at(40e9 * 1.09));
  EXPECT_TRUE(interval.holds_at(40e9 * 0.91));
  EXPECT_FALSE(interval.holds_at(40e9 * 1.15));
  EXPECT_FALSE(interval.holds_at(40e9 * 0.85));
}

// 20 ns compute, 80 ns wait. At half the speed these are 160, if they follow in full; 80, if not at
// all: the middle, and doubt about that.
TEST(StateInterval, follows_half_of_a_move_of_the_memory_and_doubts_it) {
  const Interval slow = interval_at_40_gb_per_s(80).at(20e9);
  EXPECT_NEAR((slow.low + slow.high) / 2, 140, 1e-9);
  EXPECT_NEAR((slow.high - slow.low) / 2, std::hypot(14, 20), 1e-9);
  const Interval fast = interval_at_40_gb_per_s(80).at(80e9);
  EXPECT_NEAR((fast.low + fast.high) / 2, 80, 1e-9);
  EXPECT_NEAR((fast.high - fast.low) / 2, std::hypot(8, 10), 1e-9);
}

TEST(StateInterval, of_a_step_that_only_computes_is_the_same_in_every_state) {
  const Interval slow = interval_at_40_gb_per_s(0).at(10e9);
  EXPECT_DOUBLE_EQ(slow.low, 90);
  EXPECT_DOUBLE_EQ(slow.high, 110);
}

TEST(StateInterval, is_read_back_as_it_was_written) {
  const StateInterval before = interval_at_40_gb_per_s(80);
  const auto after = Json(before).get<StateInterval>();
  EXPECT_EQ(after.bytes_per_s, before.bytes_per_s);
  EXPECT_EQ(after.step_ns, before.step_ns);
  EXPECT_EQ(after.memory_ns, before.memory_ns);
  EXPECT_EQ(after.ns.low, before.ns.low);
  EXPECT_EQ(after.ns.high, before.ns.high);
}

}  // namespace
}  // namespace halmark
