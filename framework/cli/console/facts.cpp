// Options that several commands share become values here, so that the same words mean the same
// configuration in all of them.
#include "cli/console/facts.hpp"

#include "core/text/url.hpp"
#include "plan/device/device_file.hpp"
#include "plan/worker_limits.hpp"

namespace halmark::cli {

Device known_device(const std::string& id) {
  return halmark::known_device(id, config_dirs("devices"));
}

std::string database_path(const GlobalOptions& options) {
  return options.db.empty() ? (state_dir() / "halmark.db").string() : options.db;
}

std::string files_beside(const GlobalOptions& options) {
  return is_postgresql_url(options.db) ? database_path({}) : database_path(options);
}

void add_global_options(OptionSet& app, GlobalOptions& options) {
  app.add_flag("--json", options.json, "Print one JSON envelope on stdout and nothing else")
      ->only_output();
  app.add_flag("--quiet,-q", options.quiet, "No progress, no warnings on stderr")->only_output();
  app.add_option("--color", options.color, "auto, always or never (NO_COLOR is honoured)")
      ->check(one_of({"auto", "always", "never"}))
      .only_output();
  app.add_option("--progress", options.progress, "auto, json or never")
      ->check(one_of({"auto", "json", "never"}))
      .only_output();
  app.add_option("--db", options.db,
                 "Results database: a file (default under XDG state) or postgresql://...");
  app.add_option("--plugin", options.plugins, "Plugin file or folder, searched first");
  app.add_flag("--allow-insecure-plugin", options.allows_insecure_plugins,
               "Load plugins that other users could have written too");
  app.add_option(
      "--worker-memory", options.worker_memory,
      "Memory of each worker: 8GiB, or none (default: what the run may use, shared by the "
      "workers at once)");
  app.add_option("--phase-limit", options.phase_limits,
                 "Seconds after which a worker counts as hung: PHASE=SECONDS,... (phases: " +
                     phase_names() + ")")
      ->delimiter(',');
}

}  // namespace halmark::cli
