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
  EXPECT_EQ(signals.size(), 7u);
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

TEST(Interference, of_a_loop_without_a_clean_chunk_is_absent_with_the_reason) {
  Interference interference;
  interference.begin();
  const auto none = interference.end(std::nullopt, true);
  EXPECT_EQ(none.size(), 7u);
  for (const char* name :
       {signal_name::wall_cpu_ratio, signal_name::cpus_used, signal_name::run_delay_fraction,
        signal_name::involuntary_switches_per_s}) {
    EXPECT_FALSE(named(none, name).value) << name;
    EXPECT_FALSE(named(none, name).reason.empty()) << name;
  }
  const CounterReading clean{.wall_ns = 2e9,
                             .cpu_ns = 2e9,
                             .thread_cpu_ns = 1.6e9,
                             .run_delay_ns = 1e7,
                             .involuntary_switches = 3};
  const auto some = interference.end(clean, true);
  EXPECT_DOUBLE_EQ(named(some, signal_name::wall_cpu_ratio).value.value(), 1.25);
  EXPECT_DOUBLE_EQ(named(some, signal_name::cpus_used).value.value(), 1);
  EXPECT_DOUBLE_EQ(named(some, signal_name::run_delay_fraction).value.value(), 0.005);
  EXPECT_DOUBLE_EQ(named(some, signal_name::involuntary_switches_per_s).value.value(), 1.5);
  EXPECT_FALSE(named(interference.end(clean, false), signal_name::wall_cpu_ratio).value);
}

TEST(Interference, no_samples_means_no_rate_of_switches) {
  Interference interference;
  interference.begin();
  EXPECT_FALSE(named(interference.end(0, true), signal_name::involuntary_switches_per_s).value);
}

}  // namespace
}  // namespace halmark
