// What an agent tells of its machine when it enters: enough to plan for it on any other one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/plugin/discovery.hpp"
#include "tune/devices/named_devices.hpp"

namespace halmark::fleet {

// Host of fingerprints of a machine that stands for all of its class.
inline constexpr const char* any_host = "fleet";

// A machine as `tune` reads its own.
struct NodeFacts {
  tune::LocalMachine machine;
  std::vector<FoundPlugin> plugins;  // that were loaded; those of another machine have no path
};

// All devices that the plugins of a machine offer.
tune::NamedDevices devices_of_node(const NodeFacts& node);
// The class of the rows of each: {"fake:0": "device-7f..."}.
std::map<std::string, std::string> classes_by_place(const NodeFacts& node);

// One JSON document: processor, memory, peaks with their occasions, datasheets, limits of the
// validity gate, and of each plugin its hash and what it said of itself. Which host it is stays
// out.
std::string facts_text(const NodeFacts& node);
// The same under `any_host`. Throws Error (exit 2) for a text that is none of this version; `where`
// names the agent.
NodeFacts read_facts(const std::string& text, const std::string& where);

}  // namespace halmark::fleet
