// A limit of any group above ours binds us too, and the kernel names none but those of each group:
// the folders are walked up to the mount.
#include "host/process/cgroup_limits.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

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

// Ours first, the mount last.
std::vector<fs::path> groups_above(const std::string& root, const std::string& mount,
                                   const std::string& controller) {
  std::vector<fs::path> out;
  const fs::path top = root + mount;
  std::string group = own_group(root, controller);
  while (group.size() > 1) {
    out.emplace_back(top.string() + group);
    group.resize(group.rfind('/'));
  }
  out.push_back(top);
  return out;
}

template <class Value>
void tighten(std::optional<Value>& limit, std::optional<Value> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

std::optional<double> quota_of(std::optional<std::int64_t> quota,
                               std::optional<std::int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

void read_v2(const fs::path& group, CgroupLimits& limits) {
  std::istringstream cpu(first_line(group / "cpu.max"));  // "max 100000" or "150000 100000"
  std::string quota, period;
  cpu >> quota >> period;
  tighten(limits.cpus, quota_of(number(quota), number(period)));
  tighten(limits.memory_bytes, number(first_line(group / "memory.max")));
}

void read_v1_cpu(const fs::path& group, CgroupLimits& limits) {
  tighten(limits.cpus, quota_of(number(first_line(group / "cpu.cfs_quota_us")),
                                number(first_line(group / "cpu.cfs_period_us"))));
}

void read_v1_memory(const fs::path& group, CgroupLimits& limits) {
  const auto bytes = number(first_line(group / "memory.limit_in_bytes"));
  if (bytes && *bytes < unlimited_v1) tighten(limits.memory_bytes, bytes);
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
      for (const fs::path& group : groups_above(root, point, "")) read_v2(group, out);
    } else if (type == "cgroup" && has_word(options, "cpu")) {
      for (const fs::path& group : groups_above(root, point, "cpu")) read_v1_cpu(group, out);
    } else if (type == "cgroup" && has_word(options, "memory")) {
      for (const fs::path& group : groups_above(root, point, "memory")) read_v1_memory(group, out);
    }
  }
  return out;
}

}  // namespace halmark
