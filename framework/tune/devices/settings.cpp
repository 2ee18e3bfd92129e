#include "tune/devices/settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/input/places.hpp"
#include "core/text/text.hpp"
#include "host/plugin/plugin_checks.hpp"
#include "plan/worker_limits.hpp"
#include "report/text/table.hpp"

namespace halmark::tune {
namespace {

namespace fs = std::filesystem;

struct Setting {
  std::string name, value, from;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// As places.cpp takes it: an XDG variable counts where it is an absolute path.
std::string from_xdg(const char* name) {
  return variable(name).starts_with('/') ? name : "default (XDG, below HOME)";
}

void add_places(const StatedSettings& stated, std::vector<Setting>& out) {
  const std::string state = from_xdg("XDG_STATE_HOME");
  const std::string db = stated.db.empty() ? (state_dir() / "halmark.db").string() : stated.db;
  const std::string from = stated.db.empty() ? state : "--db";
  out.push_back({"results database", db, from});
  if (db.find("://") == db.npos) {  // else they are where --study says, and pg_dump's business
    out.push_back({"studies", db + ".study", from});
    out.push_back({"backups", (fs::absolute(db).parent_path() / "backups").string(), from});
  }
  out.push_back({"measured peaks", (state_dir() / "devices").string(), state});
  out.push_back({"kept builds", builds_dir().string(), state});
  const std::string temporary = variable("TMPDIR");
  out.push_back({"temporary files", temporary.empty() ? "/tmp" : temporary,
                 temporary.empty() ? "default" : "TMPDIR"});
}

std::string origin_of(const fs::path& folder) {
  const std::string text = folder.string();
  const std::string listed = variable("HALMARK_CONFIG_PATH");
  const std::string parent = folder.parent_path().string();
  if (!listed.empty() && (':' + listed + ':').find(':' + parent + ':') != listed.npos) {
    return "HALMARK_CONFIG_PATH";
  }
  const fs::path prefix = installation_prefix();
  if (!prefix.empty() && text.starts_with(prefix.string())) return "default (installation)";
  return parent.ends_with("/configs") ? "default (source tree)" : from_xdg("XDG_CONFIG_HOME");
}

void add_searched(const StatedSettings& stated, std::vector<Setting>& out) {
  for (const fs::path& folder : config_dirs("devices")) {
    out.push_back({"configs", folder.parent_path().string(), origin_of(folder)});
  }
  if (!stated.plugins.empty()) {
    out.push_back({"plugins", join(stated.plugins, ", "), "--plugin"});
  }
  if (const std::string path = variable("HALMARK_PLUGIN_PATH"); !path.empty()) {
    out.push_back({"plugins", path, "HALMARK_PLUGIN_PATH"});
  }
  const fs::path beside = program_path().parent_path().parent_path() / "lib/halmark/plugins";
  out.push_back({"plugins", beside.string(), "default (beside the program)"});
  for (const auto& [library, name] : {std::pair{"OpenBLAS", "HALMARK_OPENBLAS"},
                                      std::pair{"OpenVINO runtime", "HALMARK_OPENVINO"}}) {
    if (const std::string place = variable(name); !place.empty()) {
      out.push_back({library, place, name});
    }
  }
}

void add_workers(const StatedSettings& stated, std::vector<Setting>& out) {
  std::optional<std::int64_t> memory;
  if (!stated.worker_memory.empty()) {
    memory = parse_worker_memory(stated.worker_memory, "--worker-memory");
  }
  out.push_back(
      {"worker memory", worker_memory_text(memory), memory ? "--worker-memory" : "default"});
  StatedLimits of_command;
  for (const std::string& text : stated.phase_limits) {
    of_command.phases.push_back(parse_phase_limit(text, "--phase-limit"));
  }
  const WorkerLimits limits = worker_limits({}, of_command);
  for (const PhaseLimit& phase : phase_limits) {
    const bool is_stated = std::ranges::any_of(
        of_command.phases, [&](const auto& one) { return one.first->name == phase.name; });
    out.push_back({"limit of phase " + std::string(phase.name),
                   number_text(limits.*phase.seconds) + " s",
                   is_stated ? "--phase-limit" : "default"});
  }
}

void add_terminal(const StatedSettings& stated, std::vector<Setting>& out) {
  Setting color{"color", "auto", "default"};
  if (!variable("NO_COLOR").empty()) color = {"color", "never", "NO_COLOR"};
  if (!stated.color.empty() && stated.color != "auto") color = {"color", stated.color, "--color"};
  out.push_back(color);
  const bool is_stated = !stated.progress.empty() && stated.progress != "auto";
  out.push_back(
      {"progress", is_stated ? stated.progress : "auto", is_stated ? "--progress" : "default"});
  if (const std::string columns = variable("COLUMNS"); !columns.empty()) {
    out.push_back({"columns", columns, "COLUMNS"});
  }
}

}  // namespace

report::View settings_view(const StatedSettings& stated) {
  std::vector<Setting> all;
  add_places(stated, all);
  add_searched(stated, all);
  add_workers(stated, all);
  add_terminal(stated, all);
  report::TextTable table({"setting", "value", "from"});
  Json list = Json::array();
  for (const Setting& one : all) {
    table.add({one.name, one.value, one.from});
    list.push_back({{"setting", one.name}, {"value", one.value}, {"from", one.from}});
  }
  return {.data = {{"settings", list}}, .text = table.text()};
}

}  // namespace halmark::tune
