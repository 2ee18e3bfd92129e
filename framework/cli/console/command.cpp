#include "cli/console/command.hpp"

#include "core/text/clean_text.hpp"
#include "core/text/url.hpp"
#include "core/version.hpp"
#include "plan/device/device_file.hpp"
#include "plan/worker_limits.hpp"

namespace halmark::cli {
namespace {

Json warning_json(const Warning& warning) {
  return {{"code", warning.code},
          {"subject", warning.subject},
          {"text", warning.text},
          {"remedy", warning.remedy}};
}

Json error_json(const Error& error) {
  return {{"code", exit_name(error.exit_code())},
          {"text", message_text(error.what())},
          {"where", error.where().empty() ? Json(nullptr) : Json(cut_front(error.where()))},
          {"remedy", error.remedy().empty() ? Json(nullptr) : Json(message_text(error.remedy()))}};
}

}  // namespace

void CommandResult::write(const std::vector<std::string>& files,
                          const std::function<void(const std::string&)>& write) {
  for (const std::string& path : files) {
    write(path);
    text += "written: " + path + '\n';
  }
}

std::string envelope(const Command& command, const CommandResult& result, const Error* error) {
  const Json warnings = json_list(result.warnings, warning_json);
  const ExitCode code = error != nullptr ? error->exit_code() : result.exit_code;
  const Json out = {
      {"schema", "halmark." + std::string(command.name)},
      {"version", command.schema_version},
      {"tool", {{"name", "halmark"}, {"version", tool_version}, {"build", tool_build}}},
      {"status", exit_name(code)},
      {"exit_code", static_cast<int>(code)},
      {"data", error != nullptr ? Json::object() : result.data},
      {"error", error != nullptr ? error_json(*error) : Json(nullptr)},
      {"warnings", warnings},
  };
  return terminal_json(dump_json(out, 2)) + '\n';
}

Device known_device(const std::string& id) {
  return halmark::known_device(id, config_dirs("devices"));
}

tune::StepFolders step_folders() {
  return {config_dirs("models"), config_dirs("devices"), config_dirs("fabrics")};
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

bool use_color(const GlobalOptions& options) {
  return options.color == "auto" ? report::stdout_wants_color() : options.color == "always";
}

void say(const GlobalOptions& global, const std::string& text) {
  if (!global.quiet) write_stderr("halmark: " + message_text(text) + '\n');
}

namespace {

report::ProgressMode mode_of(const GlobalOptions& options) {
  if (options.quiet || options.progress == "never") return report::ProgressMode::never;
  return options.progress == "json" ? report::ProgressMode::json : report::ProgressMode::automatic;
}

}  // namespace

Progress::Progress(const GlobalOptions& options, std::string title)
    : report::Progress(mode_of(options), std::move(title)) {}

}  // namespace halmark::cli
