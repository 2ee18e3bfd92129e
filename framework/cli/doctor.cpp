// halmark devices and doctor: backends with their devices, or why one is absent; what is found,
// what is refused and why, and what would make figures better.
#include "cli/built_plugins.hpp"
#include "cli/console/session.hpp"
#include "core/lists.hpp"
#include "journal/store.hpp"
#include "measure/campaign/node_agreement.hpp"
#include "measure/sampling/gbench.hpp"
#include "plan/device/device_file.hpp"
#include "plan/device/device_judgement.hpp"
#include "plan/device/device_query.hpp"
#include "report/views/device_views.hpp"
#include "tune/devices/devices_here.hpp"
#include "tune/devices/machine_checks.hpp"
#include "tune/devices/op_paths.hpp"

namespace halmark::cli {
namespace {

std::vector<BackendOfBuild> backends_of_build() {
  std::vector<BackendOfBuild> out;
  for (const BuiltPlugin& plugin : built_plugins()) {
    if (!plugin.is_backend) continue;
    out.push_back({std::string(plugin.backend), std::string(plugin.why_not)});
  }
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
  for (auto more : {tune::machine_checks(local_machine(), worker_limits_of(options).memory_bytes),
                    library_checks(), node_checks(hosts, found)}) {
    append_all(checks, more);
  }
  TextTable table({"check", "verdict", "what"});
  Json list = Json::array();
  bool is_refused = false;
  for (const Check& c : checks) {
    table.add({c.name, c.verdict, c.text});
    list.push_back({{"name", c.name}, {"verdict", c.verdict}, {"text", c.text}});
    is_refused = is_refused || c.verdict == "refused";
  }
  return {{.data = {{"checks", list}}, .text = table.text()},
          is_refused ? ExitCode::unfit : ExitCode::ok};
}

// Exit 3 when a finding is an error.
CommandResult judge(const std::vector<std::string>& paths) {
  DeviceJudgement judged = judge_devices(paths, config_dirs("devices"));
  return {{std::move(judged.data), std::move(judged.text)},
          judged.errors > 0 ? ExitCode::gate_failed : ExitCode::ok};
}

}  // namespace

Action add_devices(OptionSet& app) {
  const auto query = std::make_shared<DeviceQuery>();
  const auto names = app.add<std::vector<std::string>>("device", "Known devices to show");
  const auto lists_known = app.add_flag("--known", "List the devices of configs/devices instead");
  const auto names_paths =
      app.add_flag("--paths", "Name the kernel and implementation that each op takes here")
          .excludes("--known");
  app.add_option("--where", query->where,
                 "With --known: an expression, memory_bytes >= 80e9 and vendor == \"NVIDIA\"")
      .with("--known");
  app.add_option("--sort", query->sort,
                 "With --known: by a figure, largest first: memory_bytes bandwidth link power_w "
                 "bf16 fp8 int8 ...")
      .with("--known");
  return [=](const GlobalOptions& options) {
    if (*names_paths) {
      if (!names->empty()) {
        throw refused("--paths is of the devices here", names->front(), "leave the name out");
      }
      return tune::paths_view(tune::op_paths(find_plugins(options), worker_limits_of(options)));
    }
    if (!*lists_known && names->empty()) {
      return tune::devices_here(find_plugins(options), backends_of_build(), local_machine());
    }
    std::vector<Device> known =
        mapped(*names, [&](const std::string& name) { return known_device(name); });
    if (names->empty()) known = known_devices(config_dirs("devices"));
    return report::known_devices_view(select_devices(std::move(known), *query), stdout_columns());
  };
}

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
