// About 1 us per reading and thread: the clocks of the process, getrusage, and one pread of a file
// of the kernel for each thread.
#include "measure/sampling/process_counters.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>

#include <cstdlib>
#include <string>

#include "measure/sampling/clock_source.hpp"
#include "measure/sampling/run_delay.hpp"

namespace halmark {
namespace {

constexpr std::size_t threads_max = 512;  // open files; beyond it there is no figure of the delay

}  // namespace

void ProcessCounters::look_for_threads() {
  std::map<int, Thread> now;
  if (DIR* tasks = opendir("/proc/self/task")) {
    while (const dirent* task = readdir(tasks)) {
      const int id = std::atoi(task->d_name);
      if (id <= 0 || now.size() > threads_max) continue;
      if (auto known = threads_.extract(id)) {
        now.insert(std::move(known));
        continue;
      }
      std::string path("/proc/self/task/");
      path += task->d_name;
      path += "/schedstat";
      now[id].schedstat = FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    }
    closedir(tasks);
  }
  threads_ = std::move(now);
  const double begin_ns = read_clock_ns(CLOCK_MONOTONIC);
  read();
  read_cost_ns_ = read_clock_ns(CLOCK_MONOTONIC) - begin_ns;
}

std::optional<double> ProcessCounters::run_delay_ns() {
  if (threads_.empty() || threads_.size() > threads_max) return std::nullopt;
  double sum_ns = 0;
  for (auto& [id, thread] : threads_) {
    const RunDelay delay = read_run_delay(thread.schedstat.get());
    if (delay.ns) {
      thread.delay_ns = delay.ns;
    } else if (!delay.has_ended) {
      return std::nullopt;
    }
    sum_ns += thread.delay_ns.value_or(0);
  }
  return sum_ns;
}

CounterReading ProcessCounters::read() {
  CounterReading reading;
  reading.run_delay_ns = run_delay_ns();
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    reading.involuntary_switches = static_cast<double>(usage.ru_nivcsw);
  }
  reading.cpu_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  reading.thread_cpu_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  reading.wall_ns = read_clock_ns(CLOCK_MONOTONIC);
  return reading;
}

}  // namespace halmark
