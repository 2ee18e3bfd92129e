// halmark devices: backends found, their devices, and for each absent backend the reason.
#include <memory>

#include "cli/built_plugins.hpp"
#include "cli/console/facts.hpp"
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
  const auto query = std::make_shared<DeviceQuery>();
  const auto names = app.add<std::vector<std::string>>("device", "Known devices to show");
  const auto lists_known = app.add_flag("--known", "List the devices of configs/devices instead");
  app.add_option("--where", query->where,
                 "With --known: an expression, memory_bytes >= 80e9 and vendor == \"NVIDIA\"")
      .with("--known");
  app.add_option("--sort", query->sort,
                 "With --known: by a figure, largest first: memory_bytes bandwidth link power_w "
                 "bf16 fp8 int8 ...")
      .with("--known");
  return [=](const GlobalOptions& options) {
    if (!*lists_known && names->empty()) return local(options);
    std::vector<Device> known;
    for (const std::string& name : *names) known.push_back(known_device(name));
    if (names->empty()) known = known_devices(config_dirs("devices"));
    return shown(
        report::known_devices_view(select_devices(std::move(known), *query), stdout_columns()));
  };
}

}  // namespace halmark::cli
