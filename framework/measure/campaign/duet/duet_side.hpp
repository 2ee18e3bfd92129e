// The builds that meet in a duet: kept ones, plugin files and the one that runs now.
#pragma once

#include <map>
#include <string>

#include "host/plugin/kept_builds.hpp"

namespace halmark {

// One of the two builds, and how its workers are started.
struct DuetSide {
  std::string build;  // what the duet calls it
  std::string plugin_path;
  std::string worker_program;                      // "" = the one of this installation
  std::map<std::string, std::string> environment;  // of its workers
};

DuetSide side_of(const KeptBuild& build);

// How a user names one: a plugin file, the first digits of a kept build, or `now`, the plugin of
// the backend as it is installed.
struct SideNames {
  std::string now_path, now_hash;
  std::string builds_folder;
  bool allow_insecure = false;
};
// Throws Error (exit 2) naming the builds that are kept.
DuetSide named_side(const std::string& name, const SideNames& known);

// Keeps the plugin, this installation's worker and the libraries that they load.
Result<KeptBuild, std::string> keep_running_build(const std::string& plugin_path,
                                                  const WorkerLimits& limits,
                                                  const std::string& folder,
                                                  const std::string& now_utc);

}  // namespace halmark
