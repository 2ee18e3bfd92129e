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
#include "plan/device_judgement.hpp"

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

// Exit 3 when a finding is an error.
CommandResult judge(const std::vector<std::string>& paths) {
  DeviceJudgement judged = judge_devices(paths, config_dirs("devices"));
  return {.exit_code = judged.errors > 0 ? ExitCode::gate_failed : ExitCode::ok,
          .data = std::move(judged.data),
          .text = std::move(judged.text)};
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
    return devices.is_given() ? judge(*files) : execute(options);
  };
}

}  // namespace halmark::cli
