// What the kernel counts of a thread that could run and had no CPU: /proc/.../schedstat.
#pragma once

#include <cstdint>
#include <optional>

#include "host/process/file_descriptor.hpp"

namespace halmark {

struct RunDelay {
  std::optional<double> ns;  // so far; nothing where the kernel does not count it
  bool has_ended = false;    // the thread
};

// Of an open schedstat file.
RunDelay read_run_delay(int fd);

// How long two threads wait for a CPU from now on: the calling one, and the first of the process
// `pid`, to which it talks.
class CpuWait {
 public:
  explicit CpuWait(std::int64_t pid);
  // Both together since it was made; nothing where either is not known.
  std::optional<double> so_far_ns() const;

 private:
  std::optional<double> counted_ns() const;
  FileDescriptor here_, there_;
  std::optional<double> begin_ns_;
};

}  // namespace halmark
