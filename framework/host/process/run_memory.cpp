#include "host/process/run_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

#include "host/process/cgroup_limits.hpp"

namespace halmark {
namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t worker_bytes_min = 64 * mib;  // as --worker-memory

std::optional<std::int64_t> meminfo_bytes(const std::string& root, std::string_view key) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t digit = line.find_first_of("0123456789");
    if (digit == std::string::npos) return std::nullopt;
    std::int64_t kib = 0;
    std::from_chars(line.data() + digit, line.data() + line.size(), kib);
    return kib * 1024;
  }
  return std::nullopt;
}

std::int64_t physical_bytes() {
  return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
}

std::string mib_text(std::int64_t bytes) { return std::to_string(bytes / mib) + " MiB"; }

}  // namespace

std::int64_t RunMemory::reserve_bytes() const {
  return std::clamp<std::int64_t>(limit_bytes / 16, 48 * mib, 1024 * mib);
}

std::int64_t RunMemory::may_use_bytes() const {
  return std::max<std::int64_t>(0, free_bytes - reserve_bytes());
}

std::int64_t RunMemory::at_most_bytes() const {
  if (limited_by.empty()) return machine_bytes;
  return std::max<std::int64_t>(0, limit_bytes - reserve_bytes());
}

std::int64_t RunMemory::worker_bytes(int workers_at_once) const {
  return std::max(worker_bytes_min, may_use_bytes() / std::max(1, workers_at_once));
}

std::string RunMemory::text() const {
  const std::string whose = limited_by.empty() ? "the machine's memory" : "limit of " + limited_by;
  return mib_text(may_use_bytes()) + " of " + mib_text(limit_bytes) + " (" + whose + "; " +
         mib_text(std::max<std::int64_t>(0, limit_bytes - free_bytes)) + " in use, " +
         mib_text(reserve_bytes()) + " kept free)";
}

RunMemory run_memory(const std::string& root) {
  RunMemory out;
  out.machine_bytes = meminfo_bytes(root, "MemTotal:").value_or(physical_bytes());
  out.limit_bytes = out.machine_bytes;
  out.free_bytes = meminfo_bytes(root, "MemAvailable:").value_or(out.machine_bytes);
  for (const MemoryGroup& group : cgroup_limits(root).memory) {
    out.free_bytes = std::min(out.free_bytes, group.free_bytes());
    out.kills_whole_group = out.kills_whole_group || group.kills_all;
    if (group.limit_bytes >= out.limit_bytes) continue;
    out.limit_bytes = group.limit_bytes;
    out.limited_by = group.folder;
  }
  return out;
}

}  // namespace halmark
