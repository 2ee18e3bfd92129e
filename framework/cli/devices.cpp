// halmark devices: backends found, their devices, and for each absent backend the reason.
#include <memory>

#include "cli/built_plugins.hpp"
#include "cli/console/session.hpp"
#include "plan/device/device_file.hpp"
#include "plan/device/device_query.hpp"
#include "report/views/device_views.hpp"
#include "tune/devices/devices_here.hpp"

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

CommandResult local(const GlobalOptions& options) {
  return shown(tune::devices_here(find_plugins(options), backends_of_build(), local_machine()));
}

}  // namespace

Action add_devices(OptionSet& app) {
  struct Options {
    bool list_known = false;
    DeviceQuery query;
  };
  auto o = std::make_shared<Options>();
  app.add_flag("--known", o->list_known, "List the devices of configs/devices instead");
  app.add_option("--where", o->query.where,
                 "With --known: an expression, memory_bytes >= 80e9 and vendor == \"NVIDIA\"");
  app.add_option("--sort", o->query.sort,
                 "With --known: by a figure, largest first: memory_bytes bandwidth link power_w "
                 "bf16 fp8 int8 ...");
  return [o](const GlobalOptions& options) {
    if (o->list_known) {
      return shown(report::known_devices_view(
          select_devices(known_devices(config_dirs("devices")), o->query), stdout_columns()));
    }
    if (!o->query.where.empty() || !o->query.sort.empty()) {
      throw refused("--where and --sort are of known devices", {}, "add --known");
    }
    return local(options);
  };
}

}  // namespace halmark::cli
