#include "worker/affinity.hpp"

#include <sched.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace halmark::worker {

void bind_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) throw std::invalid_argument("no CPU has this number");
    CPU_SET(cpu, &set);
  }
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot bind to the CPUs of the shard");
  }
}

}  // namespace halmark::worker
