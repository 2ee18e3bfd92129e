#include "measure/sampling/run_delay.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace halmark {

// Its second number: nanoseconds runnable but not running.
RunDelay read_run_delay(int fd) {
  std::array<char, 96> text;
  const ssize_t got = pread(fd, text.data(), text.size() - 1, 0);
  if (got <= 0) return {.ns = {}, .has_ended = got < 0 && errno == ESRCH};
  text[static_cast<std::size_t>(got)] = '\0';
  const char* space = std::strchr(text.data(), ' ');
  if (space == nullptr) return {};
  return {.ns = std::strtod(space, nullptr)};
}

CpuWait::CpuWait(std::int64_t pid)
    : here_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)),
      there_(open(("/proc/" + std::to_string(pid) + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC)),
      begin_ns_(counted_ns()) {}

std::optional<double> CpuWait::counted_ns() const {
  const auto here = read_run_delay(here_.get()).ns, there = read_run_delay(there_.get()).ns;
  if (!here || !there) return std::nullopt;
  return *here + *there;
}

std::optional<double> CpuWait::so_far_ns() const {
  const auto now_ns = counted_ns();
  if (!begin_ns_ || !now_ns) return std::nullopt;
  return *now_ns - *begin_ns_;
}

}  // namespace halmark
