// Signals of interference against the same counters of the kernel, read here before and after.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>

#include "measure/sampling/interference.hpp"

namespace halmark {
namespace {

double now_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

void work_for(double ns) {
  for (const double end = now_ns(CLOCK_MONOTONIC) + ns; now_ns(CLOCK_MONOTONIC) < end;) {
  }
}

std::optional<double> value_of(const std::vector<Signal>& signals, const char* name) {
  const auto at = std::ranges::find(signals, name, &Signal::name);
  EXPECT_NE(at, signals.end()) << name;
  if (at == signals.end()) return {};
  EXPECT_EQ(at->value.has_value(), at->reason.empty()) << name << ": a value or a reason";
  return at->value;
}

TEST(Signals, wall_over_cpu_time_is_that_of_the_thread) {
  Interference interference;
  const double wall_begin = now_ns(CLOCK_MONOTONIC), cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
  interference.begin();
  work_for(10e6);
  poll(nullptr, 0, 30);  // the thread is blocked, as if another one had the core
  const auto signals = interference.end(4, true);
  const double wall = now_ns(CLOCK_MONOTONIC) - wall_begin;
  const double cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
  const auto ratio = value_of(signals, signal_name::wall_cpu_ratio);
  ASSERT_TRUE(ratio);
  EXPECT_GT(*ratio, 1.5);
  EXPECT_NEAR(*ratio / (wall / cpu), 1, 0.2);
}

TEST(Signals, switches_are_a_rate_whatever_the_number_of_samples) {
  for (const std::int64_t samples : {1, 1'000'000}) {
    Interference interference;
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const double begin = now_ns(CLOCK_MONOTONIC);
    interference.begin();
    work_for(40e6);
    const auto signals = interference.end(samples, true);
    const double wall_s = 1e-9 * (now_ns(CLOCK_MONOTONIC) - begin);
    getrusage(RUSAGE_SELF, &after);
    const auto switches = static_cast<double>(after.ru_nivcsw - before.ru_nivcsw);
    const auto rate = value_of(signals, signal_name::involuntary_switches_per_s);
    ASSERT_TRUE(rate);
    // A switch more may fall between the two readings on either side.
    EXPECT_LE(*rate, (switches + 1) / wall_s * 1.2);
    EXPECT_GE(*rate, std::max(0.0, switches - 2) / wall_s * 0.8);
  }
}

// Every thread that is there when the loop begins is counted, and the files are kept.
TEST(Signals, counters_of_the_process_follow_the_kernel) {
  ProcessCounters counters;
  counters.look_for_threads();
  counters.look_for_threads();
  EXPECT_GT(counters.read_cost_ns(), 0);
  const CounterReading before = counters.read();
  work_for(20e6);
  poll(nullptr, 0, 20);
  const CounterReading counted = growth(before, counters.read());
  EXPECT_GE(counted.wall_ns, 40e6);
  EXPECT_GT(counted.thread_cpu_ns, 1e6);
  EXPECT_LE(counted.thread_cpu_ns, counted.wall_ns - 19e6);
  EXPECT_NEAR(counted.cpu_ns, counted.thread_cpu_ns, 1e6) << "one thread";
  ASSERT_TRUE(counted.involuntary_switches);
  if (!counted.run_delay_ns) GTEST_SKIP() << "this kernel counts no delay";
  EXPECT_LE(*counted.run_delay_ns, counted.wall_ns);
}

TEST(Signals, load_is_per_cpu) {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  Interference interference;
  const auto found = value_of(interference.end(1, true), signal_name::load_per_cpu);
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found, load / static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)), 0.1);
}

TEST(Signals, delay_is_a_share_of_the_wall_time) {
  Interference interference;
  const auto delay_ns = [] {
    double run = 0, waited = 0;
    std::ifstream("/proc/self/schedstat") >> run >> waited;
    return waited;
  };
  const double before = delay_ns(), begin = now_ns(CLOCK_MONOTONIC);
  interference.begin();
  work_for(50e6);
  const auto share = value_of(interference.end(1, true), signal_name::run_delay_fraction);
  const double most = delay_ns() - before, wall = now_ns(CLOCK_MONOTONIC) - begin;
  if (!share) GTEST_SKIP() << "this kernel counts no delay";
  EXPECT_GE(*share, 0);
  EXPECT_LE(*share, (most + 1e6) / wall * 1.1);
}

// Ticks of 10 ms: a share needs a second of them.
TEST(Signals, steal_is_a_share_of_the_last_second) {
  Interference interference;
  const double begin = now_ns(CLOCK_MONOTONIC);
  work_for(900e6);
  interference.begin();
  const auto early = interference.end(1, true);
  if (now_ns(CLOCK_MONOTONIC) - begin < 990e6) {
    EXPECT_FALSE(value_of(early, signal_name::steal_fraction));
  }
  work_for(begin + 1010e6 - now_ns(CLOCK_MONOTONIC));
  const auto steal = value_of(interference.end(1, true), signal_name::steal_fraction);
  std::string cpu;
  double ticks = 0;
  std::ifstream stat("/proc/stat");
  stat >> cpu;
  int fields = 0;
  while (fields < 8 && stat >> ticks) ++fields;
  if (fields < 8) GTEST_SKIP() << "this kernel counts no steal";
  ASSERT_TRUE(steal);
  EXPECT_GE(*steal, 0);
  EXPECT_LE(*steal, 1);
}

}  // namespace
}  // namespace halmark
