#include "host/process/worker_memory.hpp"

#include <unistd.h>

#include <algorithm>

#include "host/process/cgroup_limits.hpp"

namespace halmark {

std::int64_t usable_memory_bytes() {
  const std::int64_t machine = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) *
                               static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
  return std::min(machine, cgroup_limits().memory_bytes.value_or(machine));
}

std::int64_t default_worker_memory_bytes(int workers_at_once) {
  return usable_memory_bytes() / 5 * 4 / std::max(1, workers_at_once);
}

}  // namespace halmark
