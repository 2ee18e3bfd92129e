// Which of the plugins that were found a user means, and what it offers.
#pragma once

#include <string>
#include <vector>

#include "host/plugin/discovery.hpp"

namespace halmark {

// Throws Error (exit 5) naming what was found instead, or the refusal of that plugin's file.
const FoundPlugin& plugin_of(const std::vector<FoundPlugin>& found, const std::string& backend);
// Why a plugin that works offers no device, in its own words.
std::string absence_of(const protocol::PluginDescription& plugin);
// The device as the plugin describes it. Throws Error (exit 5) when it has no device at all. Throws
// Error (exit 2) with the nearest name when the plugin has no such device or kernel; an empty
// kernel is the plugin's own choice.
const protocol::DeviceDescription& check_device(const FoundPlugin& plugin,
                                                const std::string& device);
void check_kernel(const protocol::PluginDescription& plugin, const std::string& kernel);

}  // namespace halmark
