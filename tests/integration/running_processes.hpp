// Which processes run below another one, as /proc tells it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace halmark::integration {

struct RunningProcess {
  pid_t pid = 0, parent = 0;
  std::string start;  // in clock ticks: a reused number is another process
};

std::vector<RunningProcess> descendants_of(pid_t root);

// The parent of an orphan changes: number and start time stay.
bool is_running(const RunningProcess& wanted);

}  // namespace halmark::integration
