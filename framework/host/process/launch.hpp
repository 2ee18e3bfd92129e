// Starts a contained process under its guard, with everything it needs in place before it runs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/process/contained_process.hpp"
#include "host/process/file_descriptor.hpp"

namespace halmark {

struct Launched {
  pid_t guard = -1;
  FileDescriptor control;  // notes of the guard arrive here; closing it ends everything
};

// `environment`: complete, "NAME=value"; `joins`: descriptors of cgroup.procs that the process
// enters; `data_limit_bytes`: RLIMIT_DATA, 0 = none. Throws Error (exit 5) when nothing could be
// started.
Launched launch_guarded(const ProcessSpec& spec, std::vector<std::string> environment, int log_fd,
                        std::span<const int> joins, std::int64_t data_limit_bytes);

}  // namespace halmark
