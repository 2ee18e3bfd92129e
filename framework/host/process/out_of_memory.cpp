// A SIGKILL says nothing of its sender. The kernel counts those that it sends for memory: in the
// group of the process, whatever ran out, and in /proc/vmstat for the whole machine.
#include "host/process/out_of_memory.hpp"

#include <fstream>

namespace halmark {

std::optional<std::int64_t> kernel_oom_kills() {
  std::ifstream file("/proc/vmstat");
  std::string key;
  std::int64_t value = 0;
  while (file >> key >> value) {
    if (key == "oom_kill") return value;
  }
  return std::nullopt;
}

OomVerdict judge_kill(const OomEvidence& e) {
  const std::string limit =
      e.limit_bytes > 0 ? ", limit " + std::to_string(e.limit_bytes >> 20) + " MiB" : "";
  if (e.in_group) {
    return *e.in_group > 0
               ? OomVerdict{true, "its control group counts " + std::to_string(*e.in_group) +
                                      " out-of-memory kills" + limit}
               : OomVerdict{false, "its control group counts no out-of-memory kill" + limit};
  }
  if (e.at_start && e.at_end) {
    const std::int64_t rise = *e.at_end - *e.at_start;
    return rise > 0 ? OomVerdict{true, "the kernel's out-of-memory kills rose by " +
                                           std::to_string(rise) + " meanwhile" + limit}
                    : OomVerdict{false, "the kernel counted no out-of-memory kill meanwhile"};
  }
  return {false, "the kernel counts no out-of-memory kills here"};
}

}  // namespace halmark
