// Signals of interference against the same counters of the kernel, read here before and after.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>

#include "measure/sampling/clock_source.hpp"
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
  EXPECT_LT(counters.read_cost_ns(), 50e6) << "a few files of the kernel, even on a busy machine";
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

// Each by its name, once, with a value or the reason why there is none.
TEST(Signals, all_seven_are_stated_whatever_is_known) {
  for (const std::int64_t samples : {0, 1}) {
    for (const bool is_busy : {false, true}) {
      Interference interference;
      interference.begin();
      work_for(2e6);
      const auto signals = interference.end(samples, is_busy);
      for (const char* name :
           {signal_name::wall_cpu_ratio, signal_name::cpus_used, signal_name::run_delay_fraction,
            signal_name::involuntary_switches_per_s, signal_name::steal_fraction,
            signal_name::load_per_cpu, signal_name::throttled_periods}) {
        EXPECT_EQ(std::ranges::count(signals, std::string(name), &Signal::name), 1) << name;
        value_of(signals, name);
      }
      EXPECT_EQ(signals.size(), 7u);
      EXPECT_EQ(value_of(signals, signal_name::wall_cpu_ratio).has_value(), is_busy);
      EXPECT_EQ(value_of(signals, signal_name::involuntary_switches_per_s).has_value(),
                samples > 0);
    }
  }
}

// A device that works while the thread waits has no ratio; a thread that ran all the time has one
// of about one, never less.
TEST(Signals, a_ratio_is_never_below_one) {
  Interference interference;
  interference.begin();
  work_for(20e6);
  EXPECT_GE(value_of(interference.end(1, true), signal_name::wall_cpu_ratio).value_or(0), 1);
}

TEST(Signals, of_clean_chunks_are_shares_of_their_own_time) {
  CounterReading clean;
  clean.wall_ns = 4e9;
  clean.thread_cpu_ns = 2e9;
  clean.cpu_ns = 6e9;
  clean.run_delay_ns = 1e9;
  clean.involuntary_switches = 8;
  Interference interference;
  auto signals = interference.end(clean, true);
  EXPECT_EQ(value_of(signals, signal_name::wall_cpu_ratio), 2);
  EXPECT_EQ(value_of(signals, signal_name::cpus_used), 1.5);
  EXPECT_EQ(value_of(signals, signal_name::run_delay_fraction), 0.25);
  EXPECT_EQ(value_of(signals, signal_name::involuntary_switches_per_s), 2);
  // Three threads beside the one that samples ran; each may be a tick ahead of its count.
  timespec tick{};
  ASSERT_EQ(clock_getres(CLOCK_MONOTONIC_COARSE, &tick), 0);
  interference.set_cpus(1);  // 6 s were used of 4 s: nobody can have taken any
  EXPECT_EQ(value_of(interference.end(clean, true), signal_name::run_delay_fraction), 0);
  EXPECT_FALSE(value_of(interference.end(clean, true), signal_name::involuntary_switches_per_s));
  interference.set_cpus(4);
  EXPECT_DOUBLE_EQ(value_of(interference.end(clean, true), signal_name::cpus_used).value_or(0),
                   1.5 - 3 * static_cast<double>(tick.tv_nsec) / 4e9);
  CounterReading brief = clean;  // no more is certain than what its own thread used
  brief.wall_ns = 2e6;
  brief.thread_cpu_ns = 2e6;
  brief.cpu_ns = 5e6;
  EXPECT_DOUBLE_EQ(value_of(interference.end(brief, true), signal_name::cpus_used).value_or(0), 1);
  clean.thread_cpu_ns = 0;  // no ratio to nothing
  clean.run_delay_ns.reset();
  clean.involuntary_switches.reset();
  signals = interference.end(clean, true);
  for (const char* name : {signal_name::wall_cpu_ratio, signal_name::run_delay_fraction,
                           signal_name::involuntary_switches_per_s}) {
    EXPECT_FALSE(value_of(signals, name)) << name;
  }
  signals = interference.end(std::nullopt, true);
  EXPECT_EQ(signals.size(), 7u);
  EXPECT_FALSE(value_of(signals, signal_name::cpus_used)) << "no chunk was clean";
}

TEST(Clocks, are_those_of_the_kernel) {
  for (const clockid_t clock :
       {CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID}) {
    const double before = now_ns(clock), read = read_clock_ns(clock), after = now_ns(clock);
    EXPECT_LE(before, read);
    EXPECT_LE(read, after);
  }
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

// "cpu user nice system idle iowait irq softirq steal guest ...", as proc(5) has it.
std::string stat_of(double steal, double other) {
  return "cpu  " + std::to_string(other) + " 0 0 0 0 0 " + std::to_string(other / 3) + ' ' +
         std::to_string(steal) + " 999 999\ncpu0 1 2 3 4 5 6 7 8\n";
}
double total(double steal, double other) { return steal + other + other / 3; }

TEST(StealShare, is_taken_from_the_youngest_reading_that_is_a_second_old) {
  StealShare share;
  const double at_s[] = {0, 0.4, 0.9999, 1.0, 1.5, 2.6, 3.6};
  const double steal[] = {5, 6, 8, 12, 20, 21, 26}, other[] = {30, 60, 120, 150, 300, 330, 390};
  // The first reading serves until the next is a second old: at 1.5 s that of 0.4 s, at 2.6 s that
  // of 1.5 s, at 3.6 s that of just a second before.
  const std::ptrdiff_t anchors[] = {-1, -1, -1, 0, 1, 4, 5};
  for (std::size_t i = 0; i < 7; ++i) {
    const Signal found = share.at(7e9 + at_s[i] * 1e9, stat_of(steal[i], other[i]));
    EXPECT_EQ(found.name, std::string(signal_name::steal_fraction));
    ASSERT_EQ(found.value.has_value(), anchors[i] >= 0) << i;
    EXPECT_EQ(found.reason.empty(), anchors[i] >= 0);
    if (anchors[i] < 0) continue;
    const auto a = static_cast<std::size_t>(anchors[i]);
    const double expected =
        (steal[i] - steal[a]) / (total(steal[i], other[i]) - total(steal[a], other[a]));
    EXPECT_NEAR(*found.value, expected, 1e-6) << i;
  }
}

TEST(StealShare, is_absent_where_nothing_is_counted) {
  StealShare share;
  EXPECT_EQ(share.at(0, "").reason, "no /proc/stat");
  EXPECT_EQ(share.at(0, "cpu0 1 2 3 4 5 6 7 8\n").reason, "no /proc/stat");
  EXPECT_EQ(share.at(0, "cpu 1 2 3 4 5 6 7\nintr x").reason, "/proc/stat counts no steal");
  EXPECT_FALSE(share.at(0, stat_of(1, 3)).value);
  EXPECT_FALSE(share.at(5e9, stat_of(1, 3)).value) << "no tick passed";
  EXPECT_EQ(share.at(6e9, stat_of(1, 30)).value, 0.0);
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
