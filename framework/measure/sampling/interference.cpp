#include "measure/sampling/interference.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "core/lists.hpp"
#include "core/text/units.hpp"
#include "measure/sampling/clock_source.hpp"

namespace halmark {
namespace {

// The first 4 KiB: every file read here is shorter up to what is wanted. Streams would cost 10 us.
std::string read_text(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::array<char, 4096> text;
  const ssize_t got = ::read(fd, text.data(), text.size());
  close(fd);
  return got > 0 ? std::string(text.data(), as_size(got)) : std::string{};
}

std::optional<double> value_after(const std::string& text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(text.c_str() + at + key.size(), nullptr);
}

Signal present(const char* name, double value) {
  return {.name = name, .value = value, .reason = {}};
}
Signal absent(const char* name, const char* reason) {
  return {.name = name, .value = std::nullopt, .reason = reason};
}

Signal load_signal() {
  const std::string text = read_text("/proc/loadavg");
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  if (text.empty() || cpus < 1) return absent(signal_name::load_per_cpu, "no /proc/loadavg");
  return present(signal_name::load_per_cpu, std::strtod(text.c_str(), nullptr) / as_double(cpus));
}

double tick_ns() {
  timespec tick{};
  return clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 ? as_double(tick.tv_nsec) : 0;
}

double cpus_used_at_least(const CounterReading& counted, std::size_t cpus) {
  static const double tick = tick_ns();
  const double uncounted_ns = cpus > 1 ? as_double(cpus - 1) * tick : 0;
  const double certain_ns = std::max(counted.thread_cpu_ns, counted.cpu_ns - uncounted_ns);
  return certain_ns / std::max(1.0, counted.wall_ns);
}

std::vector<Signal> signals_of(const CounterReading& counted, bool thread_is_busy,
                               std::size_t cpus) {
  using namespace signal_name;
  const double wall_ns = std::max(1.0, counted.wall_ns);
  std::vector<Signal> signals;
  if (!thread_is_busy) {
    signals.push_back(absent(wall_cpu_ratio, "the device works while the host thread waits"));
  } else if (counted.thread_cpu_ns <= 0) {
    signals.push_back(absent(wall_cpu_ratio, "the thread used no CPU time"));
  } else {
    signals.push_back(present(wall_cpu_ratio, std::max(1.0, wall_ns / counted.thread_cpu_ns)));
  }
  signals.push_back(present(cpus_used, cpus_used_at_least(counted, cpus)));
  const auto delay_ns = delay_by_others_ns(counted, cpus == 1);
  signals.push_back(delay_ns ? present(run_delay_fraction, *delay_ns / wall_ns)
                             : absent(run_delay_fraction, "no /proc/self/task/*/schedstat"));
  // Nobody tells which thread came next.
  const bool takes_turns = cpus == 1 && counted.cpu_ns > 1.01 * counted.thread_cpu_ns;
  if (takes_turns) {
    signals.push_back(absent(involuntary_switches_per_s, "its threads share one CPU"));
    return signals;
  }
  signals.push_back(
      counted.involuntary_switches
          ? present(involuntary_switches_per_s, *counted.involuntary_switches / wall_ns * ns_per_s)
          : absent(involuntary_switches_per_s, "no getrusage"));
  return signals;
}

}  // namespace

std::string throttle_file(const std::string& groups, const std::string& root) {
  const std::size_t unified = groups.find("0::");
  if (unified != std::string::npos) {
    const std::size_t begin = unified + 3;
    const std::string path =
        root + groups.substr(begin, groups.find('\n', begin) - begin) + "/cpu.stat";
    if (value_after(read_text(path.c_str()), "nr_throttled ")) return path;
  }
  for (const char* name : {"/cpu.stat", "/cpu/cpu.stat"}) {
    if (value_after(read_text((root + name).c_str()), "nr_throttled ")) return root + name;
  }
  return {};
}

Interference::Interference()
    : throttle_path_(throttle_file(read_text("/proc/self/cgroup"), "/sys/fs/cgroup")) {
  steal_since_a_second();  // the first anchor
  begin();
}

std::optional<double> Interference::throttled() const {
  if (throttle_path_.empty()) return std::nullopt;
  return value_after(read_text(throttle_path_.c_str()), "nr_throttled ");
}

void Interference::begin() {
  throttled_begin_ = throttled();
  counters_.look_for_threads();
  begin_ = counters_.read();
}

std::vector<Signal> Interference::end(std::int64_t samples, bool thread_is_busy) {
  const CounterReading counted = growth(begin_, counters_.read());
  std::vector<Signal> signals = signals_of(counted, thread_is_busy, cpus_);
  if (samples == 0) {
    signals.back() = absent(signal_name::involuntary_switches_per_s, "no samples");
  }
  add_machine_signals(signals);
  return signals;
}

std::vector<Signal> Interference::end(const std::optional<CounterReading>& clean,
                                      bool thread_is_busy) {
  std::vector<Signal> signals;
  if (clean) {
    signals = signals_of(*clean, thread_is_busy, cpus_);
  } else {
    for (const char* name :
         {signal_name::wall_cpu_ratio, signal_name::cpus_used, signal_name::run_delay_fraction,
          signal_name::involuntary_switches_per_s}) {
      signals.push_back(absent(name, "no chunk of samples was clean"));
    }
  }
  add_machine_signals(signals);
  return signals;
}

void Interference::add_machine_signals(std::vector<Signal>& signals) {
  signals.push_back(steal_since_a_second());
  signals.push_back(load_signal());
  const std::optional<double> now = throttled();
  if (now && throttled_begin_) {
    signals.push_back(present(signal_name::throttled_periods, *now - *throttled_begin_));
  } else {
    signals.push_back(
        absent(signal_name::throttled_periods, "no cgroup counts throttling of this process"));
  }
}

Signal Interference::steal_since_a_second() {
  return steal_.at(read_clock_ns(CLOCK_MONOTONIC), read_text("/proc/stat"));
}

Signal StealShare::at(double now_ns, const std::string& proc_stat) {
  constexpr double second_ns = ns_per_s;
  if (!proc_stat.starts_with("cpu ")) return absent(signal_name::steal_fraction, "no /proc/stat");
  Ticks now{.at_ns = now_ns};
  const char* cursor = proc_stat.c_str() + 4;
  for (const int field : below(8)) {
    char* end = nullptr;
    const double ticks = std::strtod(cursor, &end);
    if (end == cursor) return absent(signal_name::steal_fraction, "/proc/stat counts no steal");
    cursor = end;
    now.total += ticks;
    if (field == 7) now.steal = ticks;
  }
  while (ticks_.size() > 1 && now.at_ns - ticks_[1].at_ns >= second_ns) ticks_.pop_front();
  ticks_.push_back(now);
  const Ticks& anchor = ticks_.front();
  if (now.at_ns - anchor.at_ns < second_ns || now.total <= anchor.total) {
    return absent(signal_name::steal_fraction, "the worker is younger than one second");
  }
  return present(signal_name::steal_fraction,
                 (now.steal - anchor.steal) / (now.total - anchor.total));
}

}  // namespace halmark
