#include "plan/device/node_file.hpp"

#include <numeric>
#include <set>

#include "core/text/error.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {
namespace {

constexpr std::int64_t devices_max = 1024;

// What Kubernetes takes as a name of a node, which is also what stays itself in a manifest.
bool is_host_name(const std::string& name) {
  constexpr std::size_t length_max = 253;
  return !name.empty() && name.size() <= length_max &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos &&
         name.front() != '-' && name.front() != '.' && name.back() != '-' && name.back() != '.';
}

std::vector<ClusterNode> nodes_of(const TomlTable& root, std::string_view where) {
  std::vector<ClusterNode> out;
  std::set<std::string> known;
  for (const TomlTable& table : root.tables("node")) {
    const std::int64_t devices = table.integer("devices", 1, devices_max);
    std::vector<std::int64_t> domains = {devices};
    if (table.has("domains")) domains = table.integers("domains", 1, devices_max);
    if (std::accumulate(domains.begin(), domains.end(), std::int64_t{0}) != devices) {
      throw refused("domains are not the " + std::to_string(devices) + " devices of the node",
                    table.where("domains"), "their sum is the number of devices");
    }
    for (const std::string& name : table.strings("names")) {
      if (!is_host_name(name)) {
        throw refused("'" + printable(name) + "' is no name of a node", table.where("names"),
                      "lower-case letters, digits, '-' and '.'");
      }
      if (!known.insert(name).second) {
        throw refused("node '" + name + "' is named twice", table.where("names"));
      }
      out.push_back({name, domains});
    }
  }
  root.finish();
  if (out.empty()) {
    throw refused("no node is listed", std::string(where), "add [[node]] with names and devices");
  }
  return out;
}

}  // namespace

std::vector<ClusterNode> read_nodes(const std::string& path) {
  return nodes_of(TomlTable::parse_file(path, "nodes"), path);
}

std::vector<ClusterNode> parse_nodes(std::string_view text, std::string_view where) {
  return nodes_of(TomlTable::parse(text, where), where);
}

}  // namespace halmark
