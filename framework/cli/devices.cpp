// halmark devices: backends found, their devices, and for each absent backend the reason.

#include <algorithm>
#include <memory>

#include "cli/built_plugins.hpp"
#include "cli/console/session.hpp"
#include "cli/console/terminal.hpp"
#include "plan/device_file.hpp"
#include "plan/device_query.hpp"
#include "report/views/device_views.hpp"

namespace halmark::cli {
namespace {

struct Row {
  std::string id, backend, kind, status, reason;
  Json properties = Json::object();
};

Row device_row(const FoundPlugin& plugin, const protocol::DeviceDescription& d) {
  Row row{.id = plugin.description->name + ':' + d.id,
          .backend = plugin.description->name,
          .kind = d.kind,
          .status = "ok"};
  row.properties = {{"name", d.name},
                    {"isa", d.isa},
                    {"driver", d.driver},
                    {"timer", std::string(protocol::name_of(d.timer))},
                    {"memory_bytes", d.memory_bytes},
                    {"cache_bytes", d.cache_bytes},
                    {"compute_units", d.compute_units},
                    {"clock_hz_max", d.clock_hz_max},
                    {"plugin", plugin.path},
                    {"plugin_version", plugin.description->plugin_version}};
  return row;
}

// The backend whose file this is, going by its name; the path where it is none of ours.
std::string backend_of(const std::string& path) {
  for (const BuiltPlugin& plugin : built_plugins()) {
    if (path.ends_with("/hm_" + std::string(plugin.backend) + ".so")) {
      return std::string(plugin.backend);
    }
  }
  return path;
}

std::vector<Row> rows_of(const FoundPlugin& plugin) {
  if (!plugin.is_loaded()) {
    return {{.backend = backend_of(plugin.path), .status = "refused", .reason = plugin.refusal}};
  }
  std::vector<Row> out;
  for (const auto& device : plugin.description->devices) out.push_back(device_row(plugin, device));
  if (out.empty()) {
    out.push_back({.backend = plugin.description->name,
                   .status = "absent",
                   .reason = absence_of(*plugin.description)});
  }
  return out;
}

// Every plugin found, then what this tree could have offered and why it does not.
std::vector<Row> rows_of(const std::vector<FoundPlugin>& found) {
  std::vector<Row> out;
  for (const FoundPlugin& plugin : found) {
    for (Row& row : rows_of(plugin)) out.push_back(std::move(row));
  }
  for (const BuiltPlugin& plugin : built_plugins()) {
    if (std::ranges::find(out, plugin.backend, &Row::backend) != out.end()) continue;
    out.push_back({.backend = std::string(plugin.backend),
                   .status = "absent",
                   .reason = plugin.why_not.empty()
                                 ? "built, but hm_" + std::string(plugin.backend) +
                                       ".so is not where plugins are looked for"
                                 : "not built: " + std::string(plugin.why_not)});
  }
  return out;
}

std::string device_text(const Row& row) {
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
  for (const Row& row : rows_of(find_plugins(options))) {
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
