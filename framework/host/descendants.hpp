// Finds every process that stems from a contained child, also after setsid and double fork.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace halmark {

struct Descendant {
  pid_t pid = 0;
  pid_t parent = 0;
  bool is_zombie = false;
};

// Processes in the session or group `leader`, those whose environment holds `tag` as an entry, and
// the descendants of all of them; never this process. A process group alone does not catch a
// daemon that called setsid, and its parent is gone; its inherited environment tells.
std::vector<Descendant> find_descendants(pid_t leader, const std::string& tag);

}  // namespace halmark
