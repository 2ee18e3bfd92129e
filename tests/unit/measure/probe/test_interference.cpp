#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "measure/probe/clock_probe.hpp"
#include "measure/sampling/interference.hpp"

namespace halmark {
namespace {

const Signal& named(const std::vector<Signal>& signals, const char* name) {
  return *std::ranges::find(signals, name, &Signal::name);
}

TEST(Interference, every_signal_has_a_finite_value_or_a_reason) {
  Interference interference;
  SystemClock clock;
  interference.begin();
  probe_clock_hz(clock, 10);
  const auto signals = interference.end(10, true);
  EXPECT_EQ(signals.size(), 6u);
  for (const Signal& signal : signals) {
    if (signal.value) {
      EXPECT_TRUE(std::isfinite(*signal.value)) << signal.name;
      EXPECT_GE(*signal.value, 0) << signal.name;
    } else {
      EXPECT_FALSE(signal.reason.empty()) << signal.name;
    }
  }
  ASSERT_TRUE(named(signals, signal_name::wall_cpu_ratio).value);
  EXPECT_GE(*named(signals, signal_name::wall_cpu_ratio).value, 1);
}

TEST(Interference, a_waiting_host_thread_says_nothing_about_contention) {
  Interference interference;
  interference.begin();
  const auto signals = interference.end(10, false);
  EXPECT_FALSE(named(signals, signal_name::wall_cpu_ratio).value);
  EXPECT_FALSE(named(signals, signal_name::wall_cpu_ratio).reason.empty());
}

TEST(Interference, steal_of_a_young_process_is_absent_rather_than_clean) {
  Interference interference;
  interference.begin();
  const Signal steal = named(interference.end(1, true), signal_name::steal_fraction);
  EXPECT_FALSE(steal.value);
  EXPECT_FALSE(steal.reason.empty());
}

TEST(Interference, no_samples_means_no_share_of_switched_samples) {
  Interference interference;
  interference.begin();
  EXPECT_FALSE(named(interference.end(0, true), signal_name::involuntary_switch_fraction).value);
}

}  // namespace
}  // namespace halmark
