
#include "simulate/power/timeline_power.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::power {
namespace {

using simulate::Timeline;
using simulate::TimelineEvent;
using simulate::TimelinePhase;

constexpr events::Picoseconds second_ps = 1'000'000'000'000;

const PoweredDevice device = {
    .model = {.idle_w = 100, .limit_w = 500, .compute_w = 300, .memory_w = 300},
    .flops_per_s = 1000,
    .bytes_per_s = 10};

const PoweredDevice* of_all(std::uint32_t) { return &device; }

TimelineEvent kernel(std::uint32_t actor, double begin_s, double end_s, double flops,
                     double bytes) {
  return {.start_ps = events::picoseconds(begin_s),
          .end_ps = events::picoseconds(end_s),
          .bytes = bytes,
          .flops = flops,
          .actor = actor};
}

// Two devices over four seconds: one computes at half of its peak for two of them, the other reads
// at all of its bandwidth for one.
Timeline two_devices() {
  Timeline out;
  out.actors = {"a", "b"};
  out.events = {kernel(0, 0, 2, 1000, 0), kernel(1, 1, 2, 0, 10), kernel(0, 2, 4, 0, 0)};
  out.makespan_ps = 4 * second_ps;
  return out;
}

TEST(TimelinePower, is_the_area_under_what_each_device_draws) {
  const PowerUse use = power_use(two_devices(), of_all);
  EXPECT_EQ(use.devices, 2U);
  EXPECT_DOUBLE_EQ(use.seconds, 4);
  EXPECT_DOUBLE_EQ(use.idle_j, 800);
  EXPECT_DOUBLE_EQ(use.busy_j, 2 * 150 + 1 * 300);
  EXPECT_DOUBLE_EQ(use.mean_w, 1400.0 / 4);
  EXPECT_DOUBLE_EQ(use.peak_w, 200 + 150 + 300);
}

TEST(TimelinePower, of_two_streams_ends_at_the_limit_of_their_device) {
  Timeline timeline;
  timeline.actors = {"a"};
  timeline.events = {kernel(0, 0, 1, 1000, 0), kernel(0, 0, 1, 0, 10)};
  const PowerUse use = power_use(timeline, of_all);
  EXPECT_DOUBLE_EQ(use.peak_w, 500);
  EXPECT_DOUBLE_EQ(use.energy_j(), 500);
}

TEST(TimelinePower, leaves_out_what_happens_once_and_what_is_no_device) {
  Timeline timeline = two_devices();
  timeline.events[0].phase = TimelinePhase::one_time;
  const auto only_second = [](std::uint32_t actor) { return actor == 1 ? &device : nullptr; };
  const PowerUse use = power_use(timeline, only_second);
  EXPECT_EQ(use.devices, 1U);
  EXPECT_DOUBLE_EQ(use.seconds, 3);
  EXPECT_DOUBLE_EQ(use.energy_j(), 300 + 300);
}

TEST(PowerBudget, says_how_long_the_devices_would_draw_more) {
  const BudgetUse use = budget_use(power_use(two_devices(), of_all), 400, 1000);
  EXPECT_DOUBLE_EQ(use.time_share_above, 0.25);
  EXPECT_DOUBLE_EQ(use.oversubscription, 2.5);
  EXPECT_DOUBLE_EQ(use.cap_w, 200);
  EXPECT_THROW(budget_use({}, 400, 1000), Error);
}

}  // namespace
}  // namespace halmark::power
