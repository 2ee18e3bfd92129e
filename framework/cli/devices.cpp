// halmark devices: backends found, their devices, and for each absent backend the reason.

#include <algorithm>
#include <memory>

#include "cli/built_plugins.hpp"
#include "cli/console/session.hpp"
#include "cli/console/terminal.hpp"
#include "host/plugin/offered_devices.hpp"
#include "plan/device_file.hpp"
#include "plan/device_query.hpp"
#include "report/views/device_views.hpp"

namespace halmark::cli {
namespace {

std::vector<BackendOfBuild> backends_of_build() {
  std::vector<BackendOfBuild> out;
  for (const BuiltPlugin& plugin : built_plugins()) {
    out.push_back({std::string(plugin.backend), std::string(plugin.why_not)});
  }
  return out;
}

std::string device_text(const OfferedDevice& row) {
  std::string text = row.properties["name"];
  for (const char* key : {"isa", "driver"}) {
    const std::string value = row.properties[key];
    if (!value.empty()) text += ", " + value;
  }
  return text + ", " + std::to_string(row.properties["compute_units"].get<int>()) + " units";
}

CommandResult local(const GlobalOptions& options) {
  TextTable table({"device", "backend", "kind", "status", "what"});
  Json devices = Json::array();
  const std::vector<FoundPlugin> found = find_plugins(options);
  for (const OfferedDevice& row : offered_devices(found, backends_of_build())) {
    const std::string what = row.status == "ok" ? device_text(row) : row.reason;
    table.add({row.id.empty() ? "-" : row.id, row.backend, row.kind.empty() ? "-" : row.kind,
               row.status, what});
    devices.push_back({{"id", row.id.empty() ? Json(nullptr) : Json(row.id)},
                       {"backend", row.backend},
                       {"kind", row.kind.empty() ? Json(nullptr) : Json(row.kind)},
                       {"properties", row.properties},
                       {"status", row.status},
                       {"reason", row.reason}});
  }
  CommandResult result{.data = {{"devices", devices}}, .text = table.text()};
  const LocalMachine machine = local_machine();
  if (machine.measured) {
    report::View peaks = report::measured_device_view(*machine.measured, machine.datasheet);
    result.data["peaks"] = std::move(peaks.data);
    result.text += "\nmeasured peaks of " + peaks.text;
  } else {
    result.data["peaks"] = nullptr;
    result.data["peaks_reason"] = "none yet: halmark peaks measures them";
  }
  return result;
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
          select_devices(known_devices(config_dirs("devices")), o->query)));
    }
    if (!o->query.where.empty() || !o->query.sort.empty()) {
      throw refused("--where and --sort are of known devices", {}, "add --known");
    }
    return local(options);
  };
}

}  // namespace halmark::cli
