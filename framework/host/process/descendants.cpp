#include "host/process/descendants.hpp"

#include <dirent.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

namespace halmark {
namespace {

struct Process {
  pid_t pid = 0, parent = 0, group = 0, session = 0;
  std::uint64_t start_ticks = 0;
};

std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
  if (!folder) return pids;
  while (const dirent* entry = ::readdir(folder.get())) {
    pid_t pid = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    const auto [rest, error] = std::from_chars(entry->d_name, end, pid);
    if (error == std::errc() && rest == end) pids.push_back(pid);
  }
  return pids;
}

std::optional<Process> read_process(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The name is in parentheses and may hold anything, parentheses too.
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream words(line.substr(name_end + 1));
  Process process;
  process.pid = pid;
  char state = '?';
  words >> state >> process.parent >> process.group >> process.session;
  std::string skipped;  // fields 7 to 21 of proc(5), up to starttime
  for (int field = 7; field <= 21; ++field) words >> skipped;
  words >> process.start_ticks;
  return process;
}

bool carries(pid_t pid, const std::string& tag) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::string entry = tag + '\0';
  return text.rfind(entry, 0) == 0 || text.find('\0' + entry) != std::string::npos;
}

}  // namespace

std::vector<Descendant> find_descendants(pid_t leader, const std::string& tag) {
  std::vector<Process> processes;
  for (pid_t pid : all_pids()) {
    if (auto process = read_process(pid)) processes.push_back(*process);
  }
  std::set<pid_t> found;
  for (const Process& process : processes) {
    if (process.pid == ::getpid()) continue;
    if (process.pid == leader || process.session == leader || process.group == leader ||
        carries(process.pid, tag)) {
      found.insert(process.pid);
    }
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (const Process& process : processes) {
      if (process.pid != ::getpid() && found.contains(process.parent)) {
        grew |= found.insert(process.pid).second;
      }
    }
  }
  std::vector<Descendant> descendants;
  for (const Process& process : processes) {
    if (found.contains(process.pid)) {
      descendants.push_back({process.pid, process.start_ticks});
    }
  }
  return descendants;
}

std::optional<std::uint64_t> start_ticks_of(pid_t pid) {
  const auto process = read_process(pid);
  return process ? std::optional(process->start_ticks) : std::nullopt;
}

}  // namespace halmark
