// halmark doctor: what is found, what is refused and why, and what would make figures better.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/built_plugins.hpp"
#include "cli/console/session.hpp"
#include "cli/console/terminal.hpp"
#include "host/group.hpp"
#include "host/plugin/plugin_checks.hpp"
#include "host/process/contained_process.hpp"
#include "journal/store.hpp"
#include "measure/campaign/node_agreement.hpp"
#include "measure/sampling/gbench.hpp"
#include "plan/device/device_judgement.hpp"

namespace halmark::cli {
namespace {

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
  for (Check& check : memory_checks(worker_limits_of(options).memory_bytes)) {
    out.push_back(std::move(check));
  }
  const std::string mpirun = find_mpirun();
  out.push_back({"mpirun", mpirun.empty() ? "missing" : "ok",
                 mpirun.empty()
                     ? "collectives between shards cannot be measured; apt-get install openmpi-bin"
                     : mpirun});
  return out;
}

std::vector<Check> library_checks() {
  return {{"storage", "ok", storage_description()},
          {"google benchmark", "ok", gbench_description()}};
}

CommandResult execute(const GlobalOptions& options, const std::string& hosts) {
  const std::vector<FoundPlugin> found = find_plugins(options);
  std::vector<Check> checks = plugin_checks(found);
  for (const BuiltPlugin& plugin : built_plugins()) {
    if (plugin.why_not.empty()) continue;
    checks.push_back({(plugin.is_backend ? "plugin " : "") + std::string(plugin.backend), "note",
                      "not built: " + std::string(plugin.why_not)});
  }
  for (auto more : {machine_checks(options), library_checks(), node_checks(hosts, found)}) {
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
  const auto paths = app.add<std::vector<std::string>>(
      "--devices",
      "Judge the figures of device files instead: those of configs/devices, or these files and "
      "folders");
  Option(paths).expected(0, -1).type_name("[FILE|DIR ...]");
  const auto hosts =
      app.add<std::string>("--mpi-hosts",
                           "Reach these nodes too, do they agree? n1:2,n2:2; slurm:2")
          .excludes("--devices");
  return [=](const GlobalOptions& options) {
    if (!paths.is_given()) return execute(options, *hosts);
    std::vector<std::string> files = *paths;
    std::erase(files, "");  // the option without a value
    return judge(files);
  };
}

}  // namespace halmark::cli
