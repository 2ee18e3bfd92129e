#include "host/process/cgroup.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "host/process/descendants.hpp"
#include "host/process/leftovers.hpp"

namespace halmark {
namespace {

struct Mount {
  std::string point, type, options;
};

std::vector<Mount> cgroup_mounts() {
  std::ifstream table("/proc/self/mounts");
  std::vector<Mount> mounts;
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string source;
    Mount mount;
    words >> source >> mount.point >> mount.type >> mount.options;
    if (mount.type == "cgroup" || mount.type == "cgroup2") mounts.push_back(std::move(mount));
  }
  return mounts;
}

bool has_word(const std::string& text, const std::string& word, char separator) {
  std::istringstream words(text);
  for (std::string item; std::getline(words, item, separator);) {
    if (item == word) return true;
  }
  return false;
}

// Our own group inside a hierarchy: "" as controller means the unified one.
std::string own_path(const std::string& controller) {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool match =
        controller.empty() ? controllers.empty() : has_word(controllers, controller, ',');
    if (match) {
      std::string path = line.substr(second + 1);
      return path == "/" ? "" : path;
    }
  }
  return {};
}

bool can_create_in(const std::string& folder) {
  const std::string probe = folder + "/halmark-probe-" + std::to_string(::getpid());
  if (::mkdir(probe.c_str(), 0700) != 0) return false;
  ::rmdir(probe.c_str());
  return true;
}

std::string read_all(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool write_text(const std::string& path, const std::string& text) {
  const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::int64_t counter(const std::string& text, const std::string& name) {
  std::istringstream words(text);
  std::string key;
  std::int64_t value = 0;
  while (words >> key >> value) {
    if (key == name) return value;
  }
  return 0;
}

constexpr const char* name_prefix = "halmark-";

// "halmark-<pid>-<start ticks>-<count>-<process namespace>".
std::string new_name() {
  static std::atomic<unsigned> count{0};
  return name_prefix + std::to_string(::getpid()) + "-" +
         std::to_string(start_ticks_of(::getpid()).value_or(0)) + "-" +
         std::to_string(count.fetch_add(1)) + "-" + std::to_string(process_namespace());
}

// A killed process needs a moment to leave its group.
void end_group(const std::string& folder) {
  write_text(folder + "/cgroup.kill", "1");
  for (int i = 0; i < 200 && ::rmdir(folder.c_str()) != 0 && errno == EBUSY; ++i) {
    ::usleep(5000);
  }
}

void remove_leftovers(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), &::closedir);
  if (!entries) return;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (!name.starts_with(name_prefix)) continue;
    std::istringstream rest(name.substr(std::string(name_prefix).size()));
    pid_t pid = 0;
    char dash = 0;
    std::uint64_t start_ticks = 0;
    if (!(rest >> pid >> dash >> start_ticks) || dash != '-') continue;
    if (start_ticks_of(pid) == start_ticks) continue;
    // A group that still holds processes refuses to be removed.
    if (::rmdir((folder + "/" + name).c_str()) != 0 &&
        name.ends_with("-" + std::to_string(process_namespace()))) {
      end_group(folder + "/" + name);
    }
  }
}

CgroupPlaces find_places() {
  CgroupPlaces places;
  for (const Mount& mount : cgroup_mounts()) {
    if (mount.type == "cgroup2") {
      const std::string folder = mount.point + own_path("");
      if (::access((folder + "/cgroup.procs").c_str(), W_OK) == 0 && can_create_in(folder)) {
        places.unified = folder;
        std::string enabled = read_all(folder + "/cgroup.subtree_control");
        if (!enabled.empty() && enabled.back() == '\n') enabled.pop_back();
        places.has_memory_v2 = has_word(enabled, "memory", ' ');
      }
    } else if (has_word(mount.options, "memory", ',')) {
      const std::string folder = mount.point + own_path("memory");
      if (::access((folder + "/cgroup.procs").c_str(), W_OK) == 0 && can_create_in(folder)) {
        places.memory_v1 = folder;
      }
    }
  }
  if (!places.unified.empty()) remove_leftovers(places.unified);
  if (!places.memory_v1.empty()) remove_leftovers(places.memory_v1);
  return places;
}

}  // namespace

const CgroupPlaces& cgroup_places() {
  static const CgroupPlaces places = find_places();
  return places;
}

std::unique_ptr<ProcessCgroup> ProcessCgroup::create(std::int64_t memory_limit_bytes) {
  const std::string name = new_name();
  const CgroupPlaces& places = cgroup_places();
  std::unique_ptr<ProcessCgroup> group(new ProcessCgroup);
  const auto join = [&](const std::string& folder) {
    FileDescriptor fd(::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (fd) group->joins_.push_back(std::move(fd));
  };
  if (!places.unified.empty()) {
    const std::string folder = places.unified + "/" + name;
    if (::mkdir(folder.c_str(), 0700) == 0) {
      group->unified_ = folder;
      join(folder);
      if (memory_limit_bytes > 0 && places.has_memory_v2) {
        group->bounds_memory_ =
            write_text(folder + "/memory.max", std::to_string(memory_limit_bytes));
        write_text(folder + "/memory.oom.group", "1");
      }
    }
  }
  if (memory_limit_bytes > 0 && !group->bounds_memory_ && !places.memory_v1.empty()) {
    const std::string folder = places.memory_v1 + "/" + name;
    if (::mkdir(folder.c_str(), 0700) == 0) {
      group->memory_v1_ = folder;
      join(folder);
      group->bounds_memory_ =
          write_text(folder + "/memory.limit_in_bytes", std::to_string(memory_limit_bytes));
    }
  }
  if (group->joins_.empty()) return nullptr;
  return group;
}

ProcessCgroup::~ProcessCgroup() {
  if (!unified_.empty()) ::rmdir(unified_.c_str());
  if (!memory_v1_.empty()) ::rmdir(memory_v1_.c_str());
}

std::vector<int> ProcessCgroup::join_fds() const {
  std::vector<int> fds;
  for (const FileDescriptor& fd : joins_) fds.push_back(fd.get());
  return fds;
}

void ProcessCgroup::kill() const {
  if (!unified_.empty()) write_text(unified_ + "/cgroup.kill", "1");
}

bool ProcessCgroup::is_empty() const {
  if (unified_.empty()) return true;
  return counter(read_all(unified_ + "/cgroup.events"), "populated") == 0;
}

std::optional<std::int64_t> ProcessCgroup::oom_kills() const {
  const std::string path =
      !memory_v1_.empty() ? memory_v1_ + "/memory.oom_control" : unified_ + "/memory.events";
  const std::string text = read_all(path);
  if (text.find("oom_kill ") == std::string::npos) return std::nullopt;
  return counter(text, "oom_kill");
}

}  // namespace halmark
