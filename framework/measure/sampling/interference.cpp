#include "measure/sampling/interference.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include "core/text/units.hpp"
#include "measure/sampling/clock_source.hpp"

namespace halmark {
namespace {

constexpr double slice_ns = 4e6;

// The first 4 KiB: every file read here is shorter up to what is wanted. Streams would cost 10 us.
std::string read_text(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::array<char, 4096> text;
  const ssize_t got = ::read(fd, text.data(), text.size());
  close(fd);
  return got > 0 ? std::string(text.data(), static_cast<std::size_t>(got)) : std::string{};
}

// Second number of a schedstat line: nanoseconds runnable but not running.
std::optional<double> delay_of(const std::string& schedstat) {
  const std::size_t space = schedstat.find(' ');
  if (space == std::string::npos) return std::nullopt;
  return std::strtod(schedstat.c_str() + space, nullptr);
}

std::optional<double> run_delay_of_all_threads() {
  DIR* tasks = opendir("/proc/self/task");
  if (!tasks) return std::nullopt;
  std::optional<double> sum;
  while (const dirent* task = readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    const std::string path = std::string("/proc/self/task/") + task->d_name + "/schedstat";
    if (const auto delay = delay_of(read_text(path.c_str()))) sum = sum.value_or(0) + *delay;
  }
  closedir(tasks);
  return sum;
}

std::optional<double> value_after(const std::string& text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(text.c_str() + at + key.size(), nullptr);
}

// cgroup v2 first, then the cpu controller of v1; "" when neither counts throttling.
std::string find_throttle_file() {
  const std::string groups = read_text("/proc/self/cgroup");
  const std::size_t unified = groups.find("0::");
  if (unified != std::string::npos) {
    const std::size_t begin = unified + 3;
    const std::string path =
        "/sys/fs/cgroup" + groups.substr(begin, groups.find('\n', begin) - begin) + "/cpu.stat";
    if (value_after(read_text(path.c_str()), "nr_throttled ")) return path;
  }
  for (const char* path : {"/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"}) {
    if (value_after(read_text(path), "nr_throttled ")) return path;
  }
  return {};
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
  return present(signal_name::load_per_cpu,
                 std::strtod(text.c_str(), nullptr) / static_cast<double>(cpus));
}

}  // namespace

Interference::Interference() : throttle_path_(find_throttle_file()) {
  steal_since_a_second();  // the first anchor
  begin();
}

void Interference::begin() { begin_ = read(); }

Interference::Reading Interference::read() const {
  Reading reading;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) reading.switches = static_cast<double>(usage.ru_nivcsw);
  if (!throttle_path_.empty()) {
    reading.throttled = value_after(read_text(throttle_path_.c_str()), "nr_throttled ");
  }
  reading.run_delay_ns = run_delay_of_all_threads();
  reading.thread_cpu_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  reading.wall_ns = read_clock_ns(CLOCK_MONOTONIC);
  return reading;
}

std::vector<Signal> Interference::end(std::int64_t samples, bool thread_is_busy) {
  using namespace signal_name;
  const Reading now = read();
  const double wall_ns = std::max(1.0, now.wall_ns - begin_.wall_ns);
  const double cpu_ns = now.thread_cpu_ns - begin_.thread_cpu_ns;
  std::vector<Signal> signals;
  if (!thread_is_busy) {
    signals.push_back(absent(wall_cpu_ratio, "the device works while the host thread waits"));
  } else if (cpu_ns <= 0) {
    signals.push_back(absent(wall_cpu_ratio, "the thread used no CPU time"));
  } else {
    signals.push_back(present(wall_cpu_ratio, std::max(1.0, wall_ns / cpu_ns)));
  }
  if (now.run_delay_ns && begin_.run_delay_ns) {
    // A thread that ended in between takes its delay with it.
    const double delay_ns = std::max(0.0, *now.run_delay_ns - *begin_.run_delay_ns);
    signals.push_back(present(run_delay_fraction, delay_ns / wall_ns));
  } else {
    signals.push_back(absent(run_delay_fraction, "no /proc/self/task/*/schedstat"));
  }
  if (now.switches && begin_.switches && samples > 0) {
    const double switches = *now.switches - *begin_.switches;
    // Per sample, or per scheduler slice where a sample spans several: one switch in a sample of
    // 50 ms says little, and its cost is in the run-queue delay.
    const double chances = std::max(static_cast<double>(samples), wall_ns / slice_ns);
    signals.push_back(present(involuntary_switch_fraction, std::min(1.0, switches / chances)));
  } else {
    signals.push_back(absent(involuntary_switch_fraction, "no samples or no getrusage"));
  }
  signals.push_back(steal_since_a_second());
  signals.push_back(load_signal());
  if (now.throttled && begin_.throttled) {
    signals.push_back(present(throttled_periods, *now.throttled - *begin_.throttled));
  } else {
    signals.push_back(absent(throttled_periods, "no cgroup counts throttling of this process"));
  }
  return signals;
}

// The kernel counts steal in ticks of 10 ms: over a 20 ms loop one tick would read as 25 %. So the
// share is taken over the last second or more, from an anchor that earlier calls left behind.
Signal Interference::steal_since_a_second() {
  constexpr double second_ns = ns_per_s;
  const std::string stat = read_text("/proc/stat");
  if (!stat.starts_with("cpu ")) return absent(signal_name::steal_fraction, "no /proc/stat");
  Ticks now{.at_ns = read_clock_ns(CLOCK_MONOTONIC)};
  const char* cursor = stat.c_str() + 4;
  for (int field = 0; field < 8; ++field) {
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
