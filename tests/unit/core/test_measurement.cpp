#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/json/json.hpp"
#include "core/measured/duet.hpp"
#include "core/measured/measurement.hpp"
#include "core/measured/state_interval.hpp"
#include "core/text/enum_names.hpp"

namespace halmark {
namespace {

constexpr int statuses = static_cast<int>(enumerators<Status>());

TEST(Status, names_are_distinct_and_read_back) {
  std::set<std::string_view> names;
  for (int i = 0; i < statuses; ++i) {
    const auto status = static_cast<Status>(i);
    EXPECT_TRUE(names.insert(status_name(status)).second);
    EXPECT_EQ(parse_status(status_name(status)), status);
  }
  EXPECT_EQ(status_name(Status::quarantined), "quarantined");
  EXPECT_EQ(status_name(Status::cancelled), "cancelled");
  EXPECT_EQ(parse_status("fine"), std::nullopt);
  EXPECT_EQ(parse_status(""), std::nullopt);
}

TEST(Status, only_ok_and_suspect_carry_a_latency) {
  for (int i = 0; i < statuses; ++i) {
    const auto status = static_cast<Status>(i);
    EXPECT_EQ(has_latency(status), status == Status::ok || status == Status::suspect);
  }
}

TEST(Status, noise_and_refusals_are_no_failures) {
  for (const char* name : {"ok", "suspect", "unsupported", "invalid", "refused", "cancelled"}) {
    EXPECT_FALSE(counts_as_failure(*parse_status(name))) << name;
  }
  for (const char* name :
       {"out_of_memory", "compile_failed", "launch_failed", "device_lost", "wrong_result",
        "nan_result", "quarantined", "crashed", "timed_out", "worker_lost"}) {
    EXPECT_TRUE(counts_as_failure(*parse_status(name))) << name;
  }
}

TEST(Measurement, one_that_nothing_happened_to_is_no_success) {
  EXPECT_EQ(Measurement{}.status, Status::cancelled);
}

// Pairs alternately `noise` above and below `step`; the first five chose it.
Duet duet(double step, double noise, std::size_t pairs) {
  Duet out{.kernel_case = {},
           .plugin_name = {},
           .old_build = {},
           .new_build = {},
           .log_ratios = {},
           .choosing_pairs = 5};
  for (std::size_t i = 0; i < pairs; ++i) {
    out.log_ratios.push_back(std::log1p(step) + (i % 2 == 0 ? noise : -noise));
  }
  return out;
}

TEST(Duet, what_moved_is_measured_again_from_half_of_the_floor_on) {
  EXPECT_FALSE(wants_more_pairs(duet(0.014, 0, 5), 0.03));
  EXPECT_TRUE(wants_more_pairs(duet(0.016, 0, 5), 0.03));
  EXPECT_TRUE(wants_more_pairs(duet(-0.05, 0, 5), 0.03));
}

TEST(Duet, it_goes_on_while_the_floor_is_within_its_doubt) {
  // Ten pairs so far from their mean that the error of the inner six is a third of a hundredth:
  // sqrt(10 / (6 x 5)) of the distance. t(0.975, 5) = 2.571.
  const double near = 0.01 / std::sqrt(3.0);
  EXPECT_FALSE(wants_more_pairs(duet(0.02, near, 10), 0.03)) << "0.0198 + 2.571 x 0.0033 < ln 1.03";
  EXPECT_TRUE(wants_more_pairs(duet(0.023, near, 10), 0.03)) << "0.0227 + 2.571 x 0.0033 > ln 1.03";
  EXPECT_FALSE(wants_more_pairs(duet(0.017, 3 * near, 10), 0.03)) << "0.0169 < 0.6 ln 1.03";
  EXPECT_TRUE(wants_more_pairs(duet(0.019, 3 * near, 10), 0.03)) << "0.0188 > 0.6 ln 1.03";
  EXPECT_TRUE(wants_more_pairs(duet(0.05, 1e-4, 19), 0.03)) << "however clear";
  EXPECT_FALSE(wants_more_pairs(duet(0.05, 1e-4, 20), 0.03));
  // Of twenty the inner twelve: sqrt(20 / (12 x 11)) = 0.3892; t(1 - 5e-7, 11) = 9.70, from a
  // table.
  EXPECT_TRUE(wants_more_pairs(duet(0.05, 0.0132, 20), 0.03)) << "0.0488 < 9.70 x 0.00514";
  EXPECT_FALSE(wants_more_pairs(duet(0.05, 0.0127, 20), 0.03)) << "0.0488 > 9.70 x 0.00494";
  EXPECT_TRUE(wants_more_pairs(duet(0.05, 0.2, 59), 0.03));
  EXPECT_FALSE(wants_more_pairs(duet(0.05, 0.2, 60), 0.03)) << "at most so many";
}

TEST(Duet, one_pair_that_the_machine_spoilt_does_not_keep_it_going) {
  Duet spoilt = duet(0, 0.001, 10);
  spoilt.log_ratios[7] = 1.3;
  EXPECT_FALSE(wants_more_pairs(spoilt, 0.03));
}

TEST(Duet, what_failed_or_has_no_spread_is_not_measured_again) {
  EXPECT_FALSE(wants_more_pairs(duet(0.1, 0, 2), 0.03));
  Duet failed = duet(0.1, 0, 5);
  failed.status = Status::crashed;
  EXPECT_FALSE(wants_more_pairs(failed, 0.03));
}

// An interval holds for a state of the machine; for another the part that waits for what moved is
// scaled.

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
