#include "host/plugin/offered_devices.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "host/plugin/plugin_choice.hpp"

namespace halmark {
namespace {

OfferedDevice device_of(const FoundPlugin& plugin, const protocol::DeviceDescription& d) {
  OfferedDevice out{.id = plugin.description->name + ':' + d.id,
                    .backend = plugin.description->name,
                    .kind = d.kind,
                    .status = "ok",
                    .reason = {}};
  out.properties = {{"name", d.name},
                    {"isa", d.isa},
                    {"driver", d.driver},
                    {"timer", std::string(protocol::name_of(d.timer))},
                    {"memory_bytes", d.memory_bytes},
                    {"cache_bytes", d.cache_bytes},
                    {"compute_units", d.compute_units},
                    {"clock_hz_max", d.clock_hz_max},
                    {"plugin", plugin.path},
                    {"plugin_version", plugin.description->plugin_version}};
  return out;
}

// The backend whose file this is, going by its name; the path where it is none of ours.
std::string backend_of(const std::string& path, std::span<const BackendOfBuild> of_build) {
  for (const BackendOfBuild& known : of_build) {
    if (path.ends_with("/hm_" + known.backend + ".so")) return known.backend;
  }
  return path;
}

std::vector<OfferedDevice> devices_of(const FoundPlugin& plugin,
                                      std::span<const BackendOfBuild> of_build) {
  if (!plugin.is_loaded()) {
    return {{.backend = backend_of(plugin.path, of_build),
             .status = "refused",
             .reason = plugin.refusal}};
  }
  std::vector<OfferedDevice> out = mapped(
      plugin.description->devices, [&](const auto& device) { return device_of(plugin, device); });
  if (out.empty()) {
    out.push_back({.backend = plugin.description->name,
                   .status = "absent",
                   .reason = absence_of(*plugin.description)});
  }
  return out;
}

}  // namespace

std::vector<OfferedDevice> offered_devices(std::span<const FoundPlugin> found,
                                           std::span<const BackendOfBuild> of_build) {
  std::vector<OfferedDevice> out;
  for (const FoundPlugin& plugin : found) {
    for (OfferedDevice& device : devices_of(plugin, of_build)) out.push_back(std::move(device));
  }
  for (const BackendOfBuild& known : of_build) {
    if (contains(out, known.backend, &OfferedDevice::backend)) continue;
    out.push_back({.backend = known.backend,
                   .status = "absent",
                   .reason = known.why_not.empty() ? "built, but hm_" + known.backend +
                                                         ".so is not where plugins are looked for"
                                                   : "not built: " + known.why_not});
  }
  return out;
}

}  // namespace halmark
