// Builds that ran here, kept so that they can run again beside a newer one: the plugin, the worker
// and the libraries that they loaded. A comparison of two builds needs both, and an upgrade leaves
// one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/measured/worker_limits.hpp"
#include "core/result.hpp"

namespace halmark {

struct KeepLimits {
  std::size_t builds = 3;                      // of one plugin, the latest
  std::int64_t bytes = std::int64_t{1} << 30;  // of all of them
};

struct KeptBuild {
  std::string id;  // SHA-256 over what its files hold
  std::string plugin_name;
  std::string plugin_path, worker_program, library_folder;
  std::string last_ran_utc;
  std::int64_t bytes = 0;
};

// The files of a plugin as it runs here: what a worker has mapped once it loaded it, without the C
// and C++ runtimes.
struct BuildFiles {
  std::string plugin_name, plugin_path, worker_program;
  std::vector<std::string> libraries;
};
Result<BuildFiles, std::string> build_files(const std::string& plugin_path,
                                            const WorkerLimits& limits);

// Of this folder; a build that is there already is only dated anew. Older ones go as the limits
// say, those of `files` never. The failure says why nothing was kept.
Result<KeptBuild, std::string> keep_build(const BuildFiles& files, const std::string& folder,
                                          const std::string& now_utc,
                                          const KeepLimits& limits = {});

// Whole ones, the latest first; nothing where the folder is absent.
std::vector<KeptBuild> kept_builds(const std::string& folder);
// The one whose id begins so, of 6 digits or more.
std::optional<KeptBuild> find_kept_build(const std::string& folder, const std::string& prefix);

}  // namespace halmark
