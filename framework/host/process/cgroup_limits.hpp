// What the control groups above this process let it have: CPU time and memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halmark {

// A group that limits memory: ours, or one above it.
struct MemoryGroup {
  std::string folder;  // without `root`
  std::int64_t limit_bytes = 0;
  std::int64_t used_bytes = 0;
  std::int64_t droppable_bytes = 0;  // of them: page cache that nobody used of late
  bool kills_all = false;            // out of memory, every process of the group is killed
  std::int64_t free_bytes() const {
    return std::max<std::int64_t>(0, limit_bytes - used_bytes + droppable_bytes);
  }
};

struct CgroupLimits {
  std::optional<double> cpus;       // CPU seconds per second; nothing = no quota
  std::vector<MemoryGroup> memory;  // ours first; empty = no limit
};

// CPU: the tightest of our own group and of every group above it. v1 and v2. `root` stands in front
// of every path (for tests; "" = this machine).
CgroupLimits cgroup_limits(const std::string& root = "");

}  // namespace halmark
