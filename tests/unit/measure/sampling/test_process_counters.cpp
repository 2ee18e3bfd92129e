// Counters of this process over its threads: how many, and what becomes of those that end.
#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "measure/sampling/interference.hpp"
#include "measure/sampling/process_counters.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

// So many threads that wait until they are let go.
class Waiting {
 public:
  explicit Waiting(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { gate_.wait(false); });
  }
  ~Waiting() {
    gate_ = true;
    gate_.notify_all();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  std::atomic<bool> gate_ = false;
  std::vector<std::jthread> threads_;
};

// Of 512 threads each has its file open; of more there is no figure, until they are gone.
TEST(ProcessCounters, know_the_delay_of_up_to_512_threads) {
  ProcessCounters counters;
  counters.look_for_threads();
  if (!counters.read().run_delay_ns) GTEST_SKIP() << "this kernel counts no delay";
  {
    const Waiting others(511);
    counters.look_for_threads();
    EXPECT_TRUE(counters.read().run_delay_ns) << "with this one 512";
    const Waiting one(1);
    counters.look_for_threads();
    EXPECT_FALSE(counters.read().run_delay_ns);
  }
  counters.look_for_threads();
  EXPECT_TRUE(counters.read().run_delay_ns);
}

TEST(ProcessCounters, keep_what_was_counted_for_a_thread_that_has_ended) {
  ProcessCounters counters;
  CounterReading with;
  {
    const Waiting others(8);
    counters.look_for_threads();
    with = counters.read();
    if (!with.run_delay_ns) GTEST_SKIP() << "this kernel counts no delay";
  }
  const CounterReading after = counters.read();
  ASSERT_TRUE(after.run_delay_ns) << "an end is no failure";
  EXPECT_GE(*after.run_delay_ns, *with.run_delay_ns);
  counters.look_for_threads();
  EXPECT_LE(*counters.read().run_delay_ns, *after.run_delay_ns + 1e9) << "they are forgotten";
}

TEST(ProcessCounters, before_a_look_at_threads_have_no_delay) {
  ProcessCounters counters;
  EXPECT_FALSE(counters.read().run_delay_ns);
  EXPECT_TRUE(counters.read().involuntary_switches);
  EXPECT_EQ(counters.read_cost_ns(), 0);
}

// Second number of each thread's schedstat, as sched-stats.rst has it.
double delay_of_the_kernel() {
  double out = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    double run = 0, waited = 0;
    std::ifstream(task.path() / "schedstat") >> run >> waited;
    out += waited;
  }
  return out;
}

TEST(ProcessCounters, have_the_delay_that_the_kernel_counts) {
  ProcessCounters counters;
  const Waiting others(3);
  counters.look_for_threads();
  const double before = delay_of_the_kernel();
  const auto read = counters.read().run_delay_ns;
  if (!read) GTEST_SKIP() << "this kernel counts no delay";
  EXPECT_LE(before, *read);
  EXPECT_LE(*read, delay_of_the_kernel());
  EXPECT_GT(*read, 0) << "some microseconds at least, since the process began";
}

// As /proc/self/cgroup names a group: "0::" and its path, beside hierarchies of version 1.
TEST(ThrottleFile, is_that_of_the_own_group_then_of_the_root_then_of_version_1) {
  const test::ScratchFolder folder;
  const std::string root = folder.path().string(), groups = "4:cpu:/x\n0::/a/b\n3:pids:/\n";
  const auto write = [&](const std::string& name, const char* text) {
    std::filesystem::create_directories((root + name).substr(0, (root + name).rfind('/')));
    test::write_file(root + name, text);
    return root + name;
  };
  EXPECT_EQ(throttle_file(groups, root), "");
  const std::string first = write("/cpu/cpu.stat", "nr_periods 3\nnr_throttled 2\n");
  EXPECT_EQ(throttle_file(groups, root), first);
  write("/cpu.stat", "usage_usec 5\n");
  EXPECT_EQ(throttle_file(groups, root), first) << "a file that does not count it";
  const std::string whole = write("/cpu.stat", "usage_usec 5\nnr_throttled 0\n");
  EXPECT_EQ(throttle_file(groups, root), whole);
  const std::string own = write("/a/b/cpu.stat", "nr_throttled 1\n");
  EXPECT_EQ(throttle_file(groups, root), own);
  EXPECT_EQ(throttle_file("0::/a/b", root), own);
  EXPECT_EQ(throttle_file("4:cpu:/a/b\n", root), whole);
  EXPECT_EQ(throttle_file("", root), whole);
}

// Three threads of this process wait for one CPU: what they use beyond the sampling thread's share.
TEST(Signals, of_two_cpus_have_one_tick_less_and_turns_are_a_hundredth_of_time) {
  CounterReading clean;
  clean.wall_ns = 4e9;
  clean.thread_cpu_ns = 2e9;
  clean.cpu_ns = 6e9;
  clean.run_delay_ns = 0;
  clean.involuntary_switches = 8;
  Interference interference;
  const auto value = [&](const char* name) {
    for (const Signal& signal : interference.end(clean, true)) {
      if (signal.name == std::string(name)) return signal.value;
    }
    return std::optional<double>();
  };
  timespec tick{};
  ASSERT_EQ(clock_getres(CLOCK_MONOTONIC_COARSE, &tick), 0);
  interference.set_cpus(2);
  EXPECT_DOUBLE_EQ(*value(signal_name::cpus_used), 1.5 - static_cast<double>(tick.tv_nsec) / 4e9);
  interference.set_cpus(1);
  clean.cpu_ns = 2.01e9;
  EXPECT_EQ(value(signal_name::involuntary_switches_per_s), 2);
  clean.cpu_ns = 2.03e9;
  EXPECT_FALSE(value(signal_name::involuntary_switches_per_s));
  clean.wall_ns = 0;
  clean.cpu_ns = clean.thread_cpu_ns = 3;
  EXPECT_EQ(value(signal_name::cpus_used), 3) << "of one nanosecond at least";
  EXPECT_EQ(value(signal_name::wall_cpu_ratio), 1);
}

}  // namespace
}  // namespace halmark
