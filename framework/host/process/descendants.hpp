// Finds every process that stems from a contained child, also after setsid and double fork.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halmark {

struct Descendant {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // tells a reused number from the process that was met
};

// Processes in the session or group `leader`, those whose environment holds `tag` as an entry, and
// the descendants of all of them; never this process. A process group alone does not catch a
// daemon that called setsid, and its parent is gone; its inherited environment tells.
std::vector<Descendant> find_descendants(pid_t leader, const std::string& tag);

// Start of a process in clock ticks since boot; nothing when there is none of that number.
std::optional<std::uint64_t> start_ticks_of(pid_t pid);

}  // namespace halmark
