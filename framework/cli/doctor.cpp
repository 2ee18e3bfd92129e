// halmark doctor: what is found, what is refused and why, and what would make figures better.

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/built_plugins.hpp"
#include "cli/console/session.hpp"
#include "cli/console/terminal.hpp"
#include "host/group.hpp"
#include "host/process/contained_process.hpp"
#include "host/process/worker_memory.hpp"
#include "journal/store.hpp"
#include "measure/sampling/gbench.hpp"
#include "plan/device_lint.hpp"

namespace halmark::cli {
namespace {

struct Check {
  std::string name, verdict, text;  // verdict: ok, note, missing, refused
};

std::vector<Check> plugin_checks(const GlobalOptions& options) {
  std::vector<Check> out;
  const std::vector<FoundPlugin> found = find_plugins(options);
  for (const FoundPlugin& p : found) {
    if (p.is_loaded() && p.description->devices.empty()) {
      out.push_back({"plugin " + p.description->name, "note", absence_of(*p.description)});
    } else if (p.is_loaded()) {
      out.push_back({"plugin " + p.description->name, "ok",
                     p.path + ", version " + p.description->plugin_version + ", " +
                         std::to_string(p.description->kernels.size()) + " kernels, " +
                         std::to_string(p.description->devices.size()) + " devices"});
    } else {
      out.push_back({"plugin " + p.path, "refused", p.refusal});
    }
  }
  for (const BuiltPlugin& plugin : built_plugins()) {
    if (plugin.why_not.empty()) continue;
    out.push_back({"plugin " + std::string(plugin.backend), "note",
                   "not built: " + std::string(plugin.why_not)});
  }
  if (found.empty()) {
    out.push_back({"plugins", "missing",
                   "no hm_*.so in --plugin, HALMARK_PLUGIN_PATH or beside "
                   "the program"});
  }
  return out;
}

std::string worker_memory_text(const GlobalOptions& options) {
  const auto stated = worker_limits_of(options).memory_bytes;
  if (stated && *stated == 0) return "no limit: --worker-memory none";
  const std::int64_t bytes = stated ? *stated : default_worker_memory_bytes(1);
  return std::to_string(bytes >> 20) + " MiB for one worker (" +
         (stated ? std::string("--worker-memory")
                 : "80 % of " + std::to_string(usable_memory_bytes() >> 20) +
                       " MiB, shared by workers at once") +
         "), by " + std::string(memory_limit_means());
}

std::vector<Check> machine_checks(const GlobalOptions& options) {
  std::vector<Check> out;
  const LocalMachine machine = local_machine();
  for (const std::string& line : machine_lines(machine)) out.push_back({"machine", "ok", line});
  out.push_back({"governor", machine.machine.governor == "performance" ? "ok" : "note",
                 machine.machine.governor.empty()
                     ? "unreadable: clocks are probed around every trial instead"
                     : machine.machine.governor});
  const std::filesystem::path peaks = measured_device_path(machine.fingerprint);
  out.push_back(
      {"measured peaks", machine.measured ? "ok" : "note",
       machine.measured ? peaks.string() : "none yet: halmark peaks writes " + peaks.string()});
  const ContainmentLevel level = containment_level();
  out.push_back({"containment", level == ContainmentLevel::cgroup_v2 ? "ok" : "note",
                 std::string(containment_text(level))});
  out.push_back({"worker memory", "ok", worker_memory_text(options)});
  const std::string mpirun = find_mpirun();
  out.push_back(
      {"mpirun", mpirun.empty() ? "missing" : "ok",
       mpirun.empty() ? "collectives between shards cannot be measured (openmpi-bin)" : mpirun});
  return out;
}

std::vector<Check> library_checks() {
  return {{"storage", "ok", storage_description()},
          {"google benchmark", "ok", gbench_description()}};
}

CommandResult execute(const GlobalOptions& options) {
  std::vector<Check> checks = plugin_checks(options);
  for (auto more : {machine_checks(options), library_checks()}) {
    checks.insert(checks.end(), more.begin(), more.end());
  }
  TextTable table({"check", "verdict", "what"});
  Json list = Json::array();
  bool is_refused = false;
  for (const Check& c : checks) {
    table.add({c.name, c.verdict, c.text});
    list.push_back({{"name", c.name}, {"verdict", c.verdict}, {"text", c.text}});
    is_refused = is_refused || c.verdict == "refused";
  }
  return {.exit_code = is_refused ? ExitCode::unfit : ExitCode::ok,
          .data = {{"checks", list}},
          .text = table.text()};
}

std::vector<DeviceFile> files_of(const std::vector<std::string>& paths) {
  std::vector<DeviceFile> out;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      out.push_back(read_device_file(path));
      continue;
    }
    std::vector<DeviceFile> found = known_device_files({path});
    if (found.empty()) throw refused("no device file (*.toml) is here", path);
    std::ranges::move(found, std::back_inserter(out));
  }
  return out;
}

// One line per finding; exit 3 when one is an error. Without paths, the files of configs/devices.
CommandResult judge_devices(const std::vector<std::string>& paths) {
  const std::vector<DeviceFile> known = known_device_files(config_dirs("devices"));
  const std::vector<DeviceFile> files = paths.empty() ? known : files_of(paths);
  CommandResult out;
  Json findings = Json::array();
  std::size_t errors = 0;
  for (const DeviceFile& file : files) {
    for (const DeviceFinding& finding : lint_device(file, known)) {
      const std::string severity(severity_name(finding.severity));
      errors += finding.severity == DeviceFinding::Severity::error ? 1 : 0;
      out.text += finding.where + ": " + severity + ": " + finding.text + '\n';
      findings.push_back({{"device", file.device.id},
                          {"where", finding.where},
                          {"severity", severity},
                          {"text", finding.text}});
    }
  }
  out.text += std::to_string(files.size()) + " device files, " + std::to_string(errors) +
              " errors, " + std::to_string(findings.size() - errors) + " warnings\n";
  out.data = {{"files", files.size()}, {"errors", errors}, {"findings", findings}};
  out.exit_code = errors > 0 ? ExitCode::gate_failed : ExitCode::ok;
  return out;
}

}  // namespace

Action add_doctor(OptionSet& app) {
  auto files = std::make_shared<std::vector<std::string>>();
  const Option devices =
      app.add_option(
             "--devices", *files,
             "Judge the figures of device files instead: those of configs/devices, or these "
             "files and folders")
          ->expected(0, -1)
          ->type_name("[FILE|DIR ...]");
  return [files, devices](const GlobalOptions& options) {
    std::erase(*files, "");  // the option without a value
    return devices.is_given() ? judge_devices(*files) : execute(options);
  };
}

}  // namespace halmark::cli
