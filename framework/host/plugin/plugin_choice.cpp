// Refusals name what is here, so that the next attempt can be right.
#include "host/plugin/plugin_choice.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {

const FoundPlugin& plugin_of(const std::vector<FoundPlugin>& found, const std::string& backend) {
  std::string seen;
  for (const FoundPlugin& plugin : found) {
    if (plugin.is_loaded() && plugin.description->name == backend) return plugin;
    if (plugin.is_loaded()) {
      append_item(seen, ", ", plugin.description->name);
    } else if (plugin.path.find("hm_" + backend) != std::string::npos) {
      throw unfit("the plugin of backend '" + backend + "' is not usable: " + plugin.refusal,
                  "halmark doctor says more about " + plugin.path);
    }
  }
  throw unfit("no plugin for backend '" + backend + "'",
              seen.empty() ? "no plugin was found at all; halmark doctor lists the search path"
                           : "found: " + seen);
}

std::string absence_of(const protocol::PluginDescription& plugin) {
  std::string text = join(plugin.log, "; ");
  return text.empty() ? "no device, and the plugin gives no reason" : text;
}

const protocol::DeviceDescription& check_device(const FoundPlugin& plugin,
                                                const std::string& device) {
  const auto& devices = plugin.description->devices;
  if (devices.empty()) {
    throw unfit("backend " + plugin.description->name +
                    " has no device here: " + absence_of(*plugin.description),
                "halmark devices lists what is here");
  }
  const auto found = std::ranges::find(devices, device, &protocol::DeviceDescription::id);
  if (found != devices.end()) return *found;
  auto known = mapped(devices, [&](const auto& d) { return d.id; });
  throw refused("backend " + plugin.description->name + " has no device '" + device + "'", {},
                suggestion(device, known) +
                    "; halmark devices lists what is here, model and simulate price other devices");
}

void check_kernel(const protocol::PluginDescription& plugin, const std::string& kernel) {
  auto known = mapped(plugin.kernels, [&](const auto& k) { return k.name; });
  if (kernel.empty() || contains(known, kernel)) return;
  throw refused("backend " + plugin.name + " has no kernel '" + kernel + "'", {},
                suggestion(kernel, known));
}

}  // namespace halmark
