// halmark devices: backends found, their devices, and for each absent backend the reason.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "cli/terminal.hpp"
#include "plan/device_file.hpp"

namespace halmark::cli {
namespace {

struct Backend {
  std::string_view name, why_absent;
};

// Backends that this project names; a plugin outside the tree adds its own by being found.
constexpr std::array backends = {
    Backend{"cpu", "hm_cpu.so was not built: oneDNN is not installed (libdnnl-dev)"},
    Backend{"cuda", "no plugin hm_cuda.so: not built here (it needs the CUDA toolkit)"},
    Backend{"opencl", "no plugin hm_opencl.so: not built here (it needs OpenCL headers)"},
    Backend{"openvino", "no plugin hm_openvino.so: not built here (it needs OpenVINO)"},
    Backend{"qpu", "no plugin hm_qpu.so: the state-vector simulator is not part of this build"},
};

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
                    {"timer", d.timer},
                    {"memory_bytes", d.memory_bytes},
                    {"cache_bytes", d.cache_bytes},
                    {"compute_units", d.compute_units},
                    {"clock_hz_max", d.clock_hz_max},
                    {"plugin", plugin.path},
                    {"plugin_version", plugin.description->plugin_version}};
  return row;
}

std::vector<Row> rows_of(const std::vector<FoundPlugin>& found) {
  std::vector<Row> out;
  std::vector<std::string> seen;
  for (const FoundPlugin& plugin : found) {
    if (!plugin.is_loaded()) {
      out.push_back({.backend = plugin.path, .status = "refused", .reason = plugin.refusal});
      for (const Backend& b : backends) {
        if (plugin.path.find("hm_" + std::string(b.name) + '.') != std::string::npos) {
          out.back().backend = b.name;
          seen.emplace_back(b.name);
        }
      }
      continue;
    }
    seen.push_back(plugin.description->name);
    for (const auto& device : plugin.description->devices) {
      out.push_back(device_row(plugin, device));
    }
    if (plugin.description->devices.empty()) {
      std::string reason = "the plugin reports no device";
      for (const std::string& line : plugin.description->log) reason += ": " + line;
      out.push_back({.backend = plugin.description->name, .status = "absent", .reason = reason});
    }
  }
  for (const Backend& b : backends) {
    if (std::ranges::find(seen, b.name) == seen.end()) {
      out.push_back({.backend = std::string(b.name),
                     .status = "absent",
                     .reason = std::string(b.why_absent)});
    }
  }
  return out;
}

CommandResult local(const GlobalOptions& options) {
  TextTable table({"device", "backend", "kind", "status", "what"});
  Json devices = Json::array();
  for (const Row& row : rows_of(find_plugins(options))) {
    const std::string what = row.status == "ok"
                                 ? row.properties["name"].get<std::string>() + ", " +
                                       row.properties["isa"].get<std::string>() + ", " +
                                       std::to_string(row.properties["compute_units"].get<int>()) +
                                       " units"
                                 : row.reason;
    table.add({row.id.empty() ? "-" : row.id, row.backend, row.kind.empty() ? "-" : row.kind,
               row.status, what});
    devices.push_back({{"id", row.id.empty() ? Json(nullptr) : Json(row.id)},
                       {"backend", row.backend},
                       {"kind", row.kind.empty() ? Json(nullptr) : Json(row.kind)},
                       {"properties", row.properties},
                       {"status", row.status},
                       {"reason", row.reason}});
  }
  return {.data = {{"devices", devices}}, .text = table.text()};
}

CommandResult known() {
  TextTable table({"id", "name", "kind", "memory", "peak", "source"}, {false, false, false, true});
  Json devices = Json::array();
  for (const Device& d : known_devices(config_dirs("devices"))) {
    std::string peaks;
    Json list = Json::array();
    for (const Peak& p : d.peaks) {
      peaks += (peaks.empty() ? "" : ", ") + p.path + ' ' + rate_text(p.flops_per_s);
      list.push_back({{"path", p.path},
                      {"dtype", std::string(dtype_name(p.dtype))},
                      {"flops_per_s", p.flops_per_s},
                      {"source", p.source}});
    }
    table.add({d.id, d.name, d.kind, bytes_text(static_cast<double>(d.memory_bytes)), peaks,
               d.peaks.empty() ? "" : d.peaks.front().source});
    Json bandwidths = Json::array();
    for (const Bandwidth& b : d.bandwidths) {
      bandwidths.push_back(
          {{"level", b.level}, {"bytes_per_s", b.bytes_per_s}, {"source", b.source}});
    }
    devices.push_back({{"id", d.id},
                       {"name", d.name},
                       {"kind", d.kind},
                       {"memory_bytes", d.memory_bytes},
                       {"peaks", list},
                       {"bandwidths", bandwidths}});
  }
  return {.data = {{"known", devices}}, .text = table.text()};
}

}  // namespace

Action add_devices(CLI::App& app) {
  auto list_known = std::make_shared<bool>(false);
  app.add_flag("--known", *list_known, "List the devices of configs/devices instead");
  return
      [list_known](const GlobalOptions& options) { return *list_known ? known() : local(options); };
}

}  // namespace halmark::cli
