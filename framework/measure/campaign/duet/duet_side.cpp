#include "measure/campaign/duet/duet_side.hpp"

#include <filesystem>

#include "core/text/error.hpp"
#include "host/plugin/discovery.hpp"

namespace halmark {
namespace {

constexpr std::size_t digits = 12;  // of an id, in texts

std::string known_builds(const std::string& folder) {
  std::string out;
  for (const KeptBuild& build : kept_builds(folder)) {
    out += (out.empty() ? "kept here: " : ", ") + build.plugin_name + ' ' +
           build.id.substr(0, digits) + " (ran " + build.last_ran_utc + ')';
  }
  return out.empty() ? "no build is kept here yet: a sweep with [nightly] keeps the one it ran"
                     : out;
}

DuetSide plugin_side(const std::string& path, const SideNames& known) {
  const std::vector<FoundPlugin> found = discover({.paths = {path},
                                                   .allow_insecure = known.allow_insecure,
                                                   .search_installed = false,
                                                   .worker_program = {},
                                                   .limits = {}});
  for (const FoundPlugin& plugin : found) {
    if (plugin.is_loaded()) {
      return {.build = plugin.hash.substr(0, digits),
              .plugin_path = plugin.path,
              .worker_program = {},
              .environment = {}};
    }
  }
  throw refused(
      "this plugin cannot be used: " + (found.empty() ? "no such file" : found.front().refusal),
      path);
}

}  // namespace

DuetSide side_of(const KeptBuild& build) {
  return {.build = build.id.substr(0, digits),
          .plugin_path = build.plugin_path,
          .worker_program = build.worker_program,
          .environment = {{"LD_LIBRARY_PATH", build.library_folder}}};
}

DuetSide named_side(const std::string& name, const SideNames& known) {
  if (name == "now") {
    return {.build = known.now_hash.substr(0, digits),
            .plugin_path = known.now_path,
            .worker_program = {},
            .environment = {}};
  }
  if (const auto kept = find_kept_build(known.builds_folder, name)) return side_of(*kept);
  std::error_code absent;
  if (std::filesystem::exists(name, absent)) return plugin_side(name, known);
  throw refused("'" + name + "' is neither a plugin file, a kept build nor 'now'", {},
                known_builds(known.builds_folder));
}

Result<KeptBuild, std::string> keep_running_build(const std::string& plugin_path,
                                                  const WorkerLimits& limits,
                                                  const std::string& folder,
                                                  const std::string& now_utc) {
  const auto files = build_files(plugin_path, limits);
  if (!files) return files.failure;
  return keep_build(*files, folder, now_utc);
}

}  // namespace halmark
