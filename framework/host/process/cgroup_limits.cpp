// A limit of any group above ours binds us too, and the kernel names none but those of each group:
// the folders are walked up to the mount.
#include "host/process/cgroup_limits.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "core/numeric/cast.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;

// v1 writes "no limit" as the largest page-aligned number.
constexpr std::int64_t unlimited_v1 = std::int64_t{1} << 60;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

bool has_word(const std::string& text, const std::string& word) {
  std::istringstream words(text);
  for (std::string item; std::getline(words, item, ',');) {
    if (item == word) return true;
  }
  return false;
}

// Our own group in a hierarchy; "" as controller means the unified one.
std::string own_group(const std::string& root, const std::string& controller) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : has_word(controllers, controller)) {
      return line.substr(second + 1);
    }
  }
  return "/";
}

// Ours first, the mount last; without `root`.
std::vector<std::string> groups_above(const std::string& root, const std::string& mount,
                                      const std::string& controller) {
  std::vector<std::string> out;
  std::string group = own_group(root, controller);
  while (group.size() > 1) {
    out.push_back(mount + group);
    group.resize(group.rfind('/'));
  }
  out.push_back(mount);
  return out;
}

template <class Value>
void tighten(std::optional<Value>& limit, std::optional<Value> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

std::optional<double> quota_of(std::optional<std::int64_t> quota,
                               std::optional<std::int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return as_double(*quota) / as_double(*period);
}

// A line of memory.stat: "inactive_file 4096".
std::int64_t stat_bytes(const fs::path& group, const std::string& name) {
  std::ifstream file(group / "memory.stat");
  std::string key;
  std::int64_t value = 0;
  while (file >> key >> value) {
    if (key == name) return value;
  }
  return 0;
}

// Above memory.high the kernel slows its processes down until they give memory back.
std::optional<std::int64_t> limit_v2(const fs::path& group) {
  auto limit = number(first_line(group / "memory.max"));
  tighten(limit, number(first_line(group / "memory.high")));
  return limit;
}

void read_v2(const fs::path& group, const std::string& folder, CgroupLimits& limits) {
  std::istringstream cpu(first_line(group / "cpu.max"));  // "max 100000" or "150000 100000"
  std::string quota, period;
  cpu >> quota >> period;
  tighten(limits.cpus, quota_of(number(quota), number(period)));
  const auto limit = limit_v2(group);
  if (!limit) return;
  limits.memory.push_back({.folder = folder,
                           .limit_bytes = *limit,
                           .used_bytes = number(first_line(group / "memory.current")).value_or(0),
                           .droppable_bytes = stat_bytes(group, "inactive_file"),
                           .kills_all = first_line(group / "memory.oom.group") == "1"});
}

void read_v1_cpu(const fs::path& group, CgroupLimits& limits) {
  tighten(limits.cpus, quota_of(number(first_line(group / "cpu.cfs_quota_us")),
                                number(first_line(group / "cpu.cfs_period_us"))));
}

void read_v1_memory(const fs::path& group, const std::string& folder, CgroupLimits& limits) {
  const auto limit = number(first_line(group / "memory.limit_in_bytes"));
  if (!limit || *limit >= unlimited_v1) return;
  limits.memory.push_back(
      {.folder = folder,
       .limit_bytes = *limit,
       .used_bytes = number(first_line(group / "memory.usage_in_bytes")).value_or(0),
       .droppable_bytes = stat_bytes(group, "total_inactive_file")});
}

}  // namespace

CgroupLimits cgroup_limits(const std::string& root) {
  CgroupLimits out;
  std::ifstream table(root + "/proc/self/mounts");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string source, point, type, options;
    words >> source >> point >> type >> options;
    if (type == "cgroup2") {
      for (const std::string& group : groups_above(root, point, "")) {
        read_v2(root + group, group, out);
      }
    }
    if (type == "cgroup" && has_word(options, "cpu")) {
      for (const std::string& group : groups_above(root, point, "cpu")) {
        read_v1_cpu(root + group, out);
      }
    }
    if (type == "cgroup" && has_word(options, "memory")) {
      for (const std::string& group : groups_above(root, point, "memory")) {
        read_v1_memory(root + group, group, out);
      }
    }
  }
  return out;
}

}  // namespace halmark
