// Devices travel as the text of their files, descriptions of plugins as workers send them: there is
// one writer and one reader of each.
#include "fleet/nodes/node_facts.hpp"

#include "core/fields/json_visitor.hpp"
#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "fleet/work_table.hpp"
#include "plan/device/device_file.hpp"

namespace halmark::fleet {
namespace {

// Of a device of any host of its class.
Json optional_text(std::optional<Device> device) {
  if (!device) return nullptr;
  if (const auto at = device->fingerprint.find('@'); at != std::string::npos) {
    device->fingerprint = device->fingerprint.substr(0, at + 1) + any_host;
  }
  return device_text(*device);
}

std::optional<Device> optional_device(const Json& json, const std::string& where) {
  if (json.is_null()) return std::nullopt;
  return parse_device(json.get<std::string>(), where);
}

Json json_of(const FoundPlugin& plugin) {
  protocol::PluginDescription said = *plugin.description;
  said.log.clear();  // may name files of that machine
  return {{"hash", plugin.hash}, {"description", Json::parse(protocol::encode(said))}};
}

FoundPlugin plugin_from(const Json& json) {
  FoundPlugin out{.hash = json.at("hash").get<std::string>()};
  out.description =
      protocol::decode<protocol::PluginDescription>(dump_json(json.at("description")));
  return out;
}

NodeFacts facts_from(const Json& json, const std::string& where) {
  NodeFacts out;
  tune::LocalMachine& m = out.machine;
  m.machine.host = any_host;
  json_fields::read(json.at("machine"), m.machine);
  m.fingerprint = m.rows_fingerprint = m.machine.fingerprint();
  json.at("cores").get_to(m.cores);
  json.at("memory_bytes").get_to(m.memory_bytes);
  json.at("has_bf16").get_to(m.has_bf16);
  m.measured = optional_device(json.at("measured"), where);
  m.datasheet = optional_device(json.at("datasheet"), where);
  json_fields::read(json.at("limits"), m.limits);
  m.told.emplace();
  for (const auto& [of_class, figures] : json.at("devices").items()) {
    (*m.told)[of_class + '@' + any_host] = {
        .measured = optional_device(figures.at("measured"), where),
        .datasheet = optional_device(figures.at("datasheet"), where)};
  }
  for (const Json& plugin : json.at("plugins")) out.plugins.push_back(plugin_from(plugin));
  return out;
}

}  // namespace

tune::NamedDevices devices_of_node(const NodeFacts& node) {
  std::vector<ShardPlace> places;
  for (const FoundPlugin& plugin : node.plugins) {
    if (!plugin.is_loaded()) continue;
    for (const protocol::DeviceDescription& device : plugin.description->devices) {
      places.push_back({.backend = plugin.description->name, .device = device.id});
    }
  }
  return tune::NamedDevices::present_or_not(places, node.plugins, node.machine);
}

std::map<std::string, std::string> classes_by_place(const NodeFacts& node) {
  std::map<std::string, std::string> out;
  const tune::NamedDevices devices = devices_of_node(node);
  for (const tune::NamedDevice& own : devices.devices()) {
    out[own.place.device_text()] = classes_of(own.machine.rows_fingerprint).front();
  }
  return out;
}

std::string facts_text(const NodeFacts& node) {
  const tune::LocalMachine& m = node.machine;
  Json plugins = Json::array(), devices = Json::object();
  for (const FoundPlugin& plugin : node.plugins) {
    if (plugin.is_loaded()) plugins.push_back(json_of(plugin));
  }
  const tune::NamedDevices named = devices_of_node(node);
  for (const tune::NamedDevice& own : named.devices()) {
    if (!own.is_apart) continue;
    devices[classes_of(own.machine.rows_fingerprint).front()] = {
        {"measured", optional_text(own.machine.measured)},
        {"datasheet", optional_text(own.machine.datasheet)}};
  }
  return dump_json({{"machine", json_fields::written(m.machine)},
                    {"cores", m.cores},
                    {"memory_bytes", m.memory_bytes},
                    {"has_bf16", m.has_bf16},
                    {"measured", optional_text(m.measured)},
                    {"datasheet", optional_text(m.datasheet)},
                    {"limits", json_fields::written(m.limits)},
                    {"devices", std::move(devices)},
                    {"plugins", std::move(plugins)}});
}

NodeFacts read_facts(const std::string& text, const std::string& where) {
  try {
    return facts_from(parse_json(text, where), where);
  } catch (const std::exception& e) {
    throw refused(std::string("tells nothing of its machine that this version reads: ") + e.what(),
                  where, "agents and tune must be of one version");
  }
}

}  // namespace halmark::fleet
