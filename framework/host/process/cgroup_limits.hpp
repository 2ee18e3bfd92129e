// What the control groups above this process let it have: CPU time and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace halmark {

struct CgroupLimits {
  std::optional<double> cpus;                // CPU seconds per second; nothing = no quota
  std::optional<std::int64_t> memory_bytes;  // nothing = no limit
};

// The tightest of our own group and of every group above it, v1 and v2. `root` stands in front of
// every path (for tests; "" = this machine).
CgroupLimits cgroup_limits(const std::string& root = "");

}  // namespace halmark
