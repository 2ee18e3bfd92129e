#include "host/plugin/discovery.hpp"

#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "core/input/input_file.hpp"
#include "core/text/error.hpp"
#include "host/machine.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;

void add_folder(const fs::path& folder, std::vector<Candidate>& candidates) {
  std::vector<std::string> files;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("hm_") && name.ends_with(".so")) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  for (std::string& file : files) candidates.push_back({std::move(file), {}});
}

void add_path(const std::string& path, std::vector<Candidate>& candidates) {
  std::error_code failure;
  if (fs::is_directory(path, failure)) {
    add_folder(path, candidates);
  } else {
    candidates.push_back({path, fs::exists(path, failure) ? "" : "no such file"});
  }
}

// The same layout in the build tree and when installed: bin/ and lib/halmark/plugins/, the latter
// possibly below a multiarch folder.
std::vector<fs::path> installed_folders() {
  std::error_code failure;
  const auto self = fs::read_symlink("/proc/self/exe", failure);
  if (failure) return {};
  const auto root = self.parent_path().parent_path();
  std::vector<fs::path> folders{root / "lib" / "halmark" / "plugins",
                                root / "lib64" / "halmark" / "plugins"};
#if defined(__x86_64__)
  folders.push_back(root / "lib" / "x86_64-linux-gnu" / "halmark" / "plugins");
#elif defined(__aarch64__)
  folders.push_back(root / "lib" / "aarch64-linux-gnu" / "halmark" / "plugins");
#endif
  return folders;
}

// Of the user's entry, not of this process: `sg` and `newgrp` change the latter. A user without an
// entry (of a container) has only the process's.
gid_t primary_group() {
  const passwd* const user = ::getpwuid(::geteuid());
  return user != nullptr ? user->pw_gid : ::getegid();
}

std::string mode_problem(const struct stat& status, bool is_parent) {
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return "belongs to user " + std::to_string(status.st_uid);
  }
  if (is_parent && (status.st_mode & S_ISVTX)) return {};
  if (status.st_mode & S_IWOTH) return "is writable by others";
  if ((status.st_mode & S_IWGRP) && status.st_gid != primary_group()) {
    return "is writable by group " + std::to_string(status.st_gid);
  }
  return {};
}

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t bytes = 0;
  timespec changed{};
  bool operator==(const FileIdentity& other) const {
    return device == other.device && inode == other.inode && bytes == other.bytes &&
           changed.tv_sec == other.changed.tv_sec && changed.tv_nsec == other.changed.tv_nsec;
  }
};

FileIdentity identity_of(const struct stat& status) {
  return {status.st_dev, status.st_ino, status.st_size, status.st_ctim};
}

void refuse(FoundPlugin& plugin, Status status, std::string reason) {
  plugin.status = status;
  plugin.refusal = std::move(reason);
  plugin.description.reset();
}

// Loads the plugin in a worker that is thrown away, whatever it does to itself.
Outcome<protocol::PluginDescription> asked(const DiscoveryOptions& options,
                                           const FoundPlugin& plugin) {
  WorkerOptions worker_options;
  worker_options.cpus = CpuSet{};  // a query measures nothing; any CPU will do
  worker_options.program = options.worker_program;
  worker_options.limits = options.limits;
  auto worker = Worker::start(worker_options);
  if (!worker) return worker.failure;
  auto description = (*worker)->load(plugin.path);
  (*worker)->quit();
  return description;
}

void query(const DiscoveryOptions& options, FoundPlugin& plugin) {
  auto description = asked(options, plugin);
  // Killed from outside says nothing of the plugin.
  const WorkerFailure& failure = description.failure;
  if (!description && failure.status == Status::worker_lost && failure.signal == SIGKILL) {
    description = asked(options, plugin);
  }
  if (description) {
    plugin.description = std::move(*description);
  } else {
    refuse(plugin, description.failure.status, description.failure.reason);
  }
}

// What is loaded is hashed from the descriptor that was open meanwhile. What no worker takes is not
// hashed: it may be a gibibyte of anything.
void load(const DiscoveryOptions& options, FoundPlugin& plugin) {
  InputFile file(plugin.path, plugin_input);
  struct stat before {
  }, after{};
  if (::fstat(file.descriptor(), &before) != 0) {
    return refuse(plugin, Status::refused, "not a readable file");
  }
  query(options, plugin);
  if (plugin.is_loaded()) plugin.hash = sha256_rest(file);
  // The loader opened the path anew: what was hashed must be what was loaded, and what was judged.
  const bool is_judged = plugin.is_insecure || mode_problem(before, false).empty();
  if (!is_judged || ::stat(plugin.path.c_str(), &after) != 0 ||
      !(identity_of(before) == identity_of(after))) {
    refuse(plugin, Status::refused, "the file was exchanged while it was loaded");
  }
}

FoundPlugin examine(const DiscoveryOptions& options, const Candidate& candidate) {
  FoundPlugin plugin;
  plugin.path = candidate.path;
  std::error_code failure;
  const auto resolved = fs::canonical(candidate.path, failure);
  if (!candidate.refusal.empty() || failure) {
    refuse(plugin, Status::refused, candidate.refusal.empty() ? "no such file" : candidate.refusal);
    return plugin;
  }
  plugin.path = resolved.string();
  if (auto problem = insecurity_of(plugin.path)) {
    if (!options.allow_insecure) {
      refuse(plugin, Status::refused,
             *problem + "; correct its owner and mode, or pass --allow-insecure-plugin");
      return plugin;
    }
    plugin.is_insecure = true;
    plugin.insecurity = *problem;
  }
  try {
    load(options, plugin);
  } catch (const Error& error) {
    refuse(plugin, Status::refused, error.what());
  }
  return plugin;
}

}  // namespace

std::optional<std::string> insecurity_of(const std::string& resolved_path) {
  bool is_parent = false;
  for (fs::path path = resolved_path;; path = path.parent_path()) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return path.string() + " cannot be examined";
    const std::string problem = mode_problem(status, is_parent);
    if (!problem.empty()) return path.string() + " " + problem;
    if (path == path.root_path() || path.empty()) return std::nullopt;
    is_parent = true;
  }
}

std::vector<Candidate> plugin_candidates(const DiscoveryOptions& options) {
  std::vector<Candidate> candidates;
  for (const std::string& path : options.paths) add_path(path, candidates);
  if (options.search_installed) {
    if (const char* list = std::getenv("HALMARK_PLUGIN_PATH")) {
      std::istringstream entries(list);
      for (std::string entry; std::getline(entries, entry, ':');) {
        if (entry.empty()) continue;
        if (entry.front() == '/') {
          add_path(entry, candidates);
        } else {
          candidates.push_back({entry, "HALMARK_PLUGIN_PATH takes absolute paths only"});
        }
      }
    }
    for (const fs::path& folder : installed_folders()) add_folder(folder, candidates);
  }
  std::set<std::string> seen;
  std::erase_if(candidates, [&](const Candidate& candidate) {
    std::error_code failure;
    const auto resolved = fs::weakly_canonical(candidate.path, failure);
    return !seen.insert(failure ? candidate.path : resolved.string()).second;
  });
  return candidates;
}

std::vector<FoundPlugin> discover(const DiscoveryOptions& options) {
  std::vector<FoundPlugin> found;
  for (const Candidate& candidate : plugin_candidates(options)) {
    FoundPlugin plugin = examine(options, candidate);
    for (const FoundPlugin& earlier : found) {
      if (plugin.is_loaded() && earlier.is_loaded() &&
          earlier.description->name == plugin.description->name) {
        refuse(plugin, Status::refused,
               "a plugin named '" + earlier.description->name + "' was already found at " +
                   earlier.path);
      }
    }
    found.push_back(std::move(plugin));
  }
  return found;
}

}  // namespace halmark
