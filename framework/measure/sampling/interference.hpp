// What others did to this process while it was measuring. It reports; the validity gate judges.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/measured/measurement.hpp"
#include "measure/sampling/process_counters.hpp"

namespace halmark {

// Names of the signals, in the order of end(). A signal that cannot be read has no value but a
// reason: absent is not clean.
namespace signal_name {
// Wall time over CPU time of the thread that samples; >= 1.
inline constexpr char wall_cpu_ratio[] = "wall_cpu_ratio";
// CPU time of all threads of this process over wall time, at least: less a tick of the kernel for
// each CPU beside the sampling thread's, since the time of a thread that runs is counted by ticks.
inline constexpr char cpus_used[] = "cpus_used";
// Run-queue delay that others can have caused, summed over the threads of this process, per wall
// time.
inline constexpr char run_delay_fraction[] = "run_delay_fraction";
// Involuntary context switches of this process per second of wall time.
inline constexpr char involuntary_switches_per_s[] = "involuntary_switches_per_s";
// Share of all CPU ticks stolen by the hypervisor, over the last second or more.
inline constexpr char steal_fraction[] = "steal_fraction";
// One-minute load average over online CPUs.
inline constexpr char load_per_cpu[] = "load_per_cpu";
// Periods in which the cgroup was throttled during the interval.
inline constexpr char throttled_periods[] = "throttled_periods";
}  // namespace signal_name

// The kernel counts steal in ticks of 10 ms: over a 20 ms loop one tick would read as 25 %. So the
// share is taken over the last second or more, from an anchor that earlier calls left behind.
class StealShare {
 public:
  // `proc_stat`: the text of /proc/stat at that time.
  Signal at(double now_ns, const std::string& proc_stat);

 private:
  struct Ticks {
    double at_ns = 0;
    double steal = 0, total = 0;
  };
  std::deque<Ticks> ticks_;
};

// The file that counts throttling: that of the process's own group of cgroup v2, which `groups`
// (/proc/self/cgroup) names below `root`, that of the root, then the cpu controller of v1; "" where
// none counts.
std::string throttle_file(const std::string& groups, const std::string& root);

// Lives as long as the worker; begin() and end() bracket a sampling loop on one thread.
class Interference {
 public:
  Interference();
  void begin();
  // `thread_is_busy`: false on devices that work while the sampling thread sleeps; then the ratio
  // of wall to CPU time says nothing and is absent.
  std::vector<Signal> end(std::int64_t samples, bool thread_is_busy);
  // The same of a loop whose disturbed chunks were set aside: ratio, delay and switches are those
  // of `clean`, absent where nothing was clean.
  std::vector<Signal> end(const std::optional<CounterReading>& clean, bool thread_is_busy);

  // How many this process was given; 0 until it is said.
  void set_cpus(std::size_t cpus) { cpus_ = cpus; }

  // For the borders of chunks; begin() looks which threads there are.
  ProcessCounters& counters() { return counters_; }
  const ProcessCounters& counters() const { return counters_; }

 private:
  std::optional<double> throttled() const;
  void add_machine_signals(std::vector<Signal>& signals);
  Signal steal_since_a_second();

  std::string throttle_path_;  // "" = no cgroup controller for CPU time
  StealShare steal_;
  std::size_t cpus_ = 0;
  ProcessCounters counters_;
  CounterReading begin_;
  std::optional<double> throttled_begin_;
};

}  // namespace halmark
