#include "simulate/fabric/fabric_file.hpp"

#include <algorithm>
#include <map>

#include "core/input/file_kind.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "simulate/fabric/plan_reader.hpp"
#include "simulate/fabric/routes.hpp"

namespace halmark::fabric {
namespace {

using Names = std::map<std::string, int, std::less<>>;

constexpr std::size_t lite_devices_max = 2, lite_switches_max = 1;

EntityKind read_kind(const TomlTable& table) {
  const std::string kind = table.choice("kind", {"device", "host", "nic", "switch"});
  return kind == "device" ? EntityKind::device
         : kind == "host" ? EntityKind::host
         : kind == "nic"  ? EntityKind::nic
                          : EntityKind::network_switch;
}

int named(const TomlTable& table, std::string_view key, const std::string& name,
          const Names& names) {
  const auto* found = find_value(names, name);
  if (found) return *found;
  std::vector<std::string> known;
  for (const auto& [other, index] : names) known.push_back(other);
  throw refused("'" + printable(name) + "' is no device, host, nic or switch of this fabric",
                table.where(key), suggestion(name, known));
}

void read_entities(const TomlTable& root, Topology& topology, Names& names,
                   std::vector<std::string>& where) {
  for (const TomlTable& table : root.tables("entity")) {
    Entity entity{.name = table.string("name"), .kind = read_kind(table)};
    entity.node = as_int(table.integer_or("node", 0, 1 << 20, -1));
    entity.numa = as_int(table.integer_or("numa", 0, 1 << 20, -1));
    entity.forwards = table.boolean_or("forwards", entity.kind != EntityKind::device);
    if (topology.entities.size() >= entities_max) {
      throw refused("more than " + std::to_string(entities_max) + " entities", table.where("name"));
    }
    if (!names.emplace(entity.name, as_int(topology.entities.size())).second) {
      throw refused("'" + printable(entity.name) + "' stands in this fabric twice",
                    table.where("name"), "give each a name of its own");
    }
    topology.entities.push_back(std::move(entity));
    where.push_back(table.where("name"));
  }
}

void read_links(const TomlTable& root, Topology& topology, const Names& names) {
  std::size_t number = 0;
  for (const TomlTable& table : root.tables("link")) {
    Link link{.from = named(table, "from", table.string("from"), names),
              .to = named(table, "to", table.string("to"), names),
              .figure = as_int(topology.figures.size()),
              .cables = as_int(table.integer_or("cables", 1, 4096, 1))};
    if (link.from == link.to) {
      throw refused("a link from '" + table.string("from") + "' to itself", table.where("to"));
    }
    int ends = 0;
    for (const int end : {link.from, link.to}) {
      const Entity& entity = topology.entities[as_size(end)];
      ends += entity.kind == EntityKind::network_switch ? 0 : 1;
    }
    topology.figures.push_back(
        read_figure(table, "link[" + std::to_string(number++) + ']', ends).figure);
    topology.links.push_back(link);
  }
}

// [[group]] level = "rack", members: one group of that level, which is appended to the levels.
void read_groups(const TomlTable& root, Topology& topology, const Names& names) {
  for (const TomlTable& table : root.tables("group")) {
    const std::string level = table.string("level");
    std::vector<int> members;
    for (const std::string& name : table.strings("members")) {
      members.push_back(named(table, "members", name, names));
      const Entity& entity = topology.entities[as_size(members.back())];
      if (entity.kind != EntityKind::device) {
        throw refused("'" + name + "' is a " + std::string(kind_name(entity.kind)) +
                          "; groups are of devices",
                      table.where("members"));
      }
    }
    if (members.size() < 2) {
      throw refused("a group of one device", table.where("members"), "name all that it joins");
    }
    std::ranges::sort(members);
    auto known = std::ranges::find(topology.levels, level, &Level::name);
    if (known == topology.levels.end()) {
      known = topology.levels.insert(known, Level{.name = level, .groups = {}});
    }
    for (const auto& group : known->groups) {
      for (const int member : members) {
        if (!std::ranges::binary_search(group, member)) continue;
        throw refused("'" + topology.entities[as_size(member)].name +
                          "' stands in two groups of level '" + printable(level) + "'",
                      table.where("members"), "groups of one level share no device");
      }
    }
    known->groups.push_back(std::move(members));
  }
}

void read_tiers(const TomlTable& root, Topology& topology) {
  for (const TomlTable& table : root.tables("tier")) {
    MemoryTier tier{.name = table.choice("name", {"device", "host", "nvme"}),
                    .scope = table.choice("scope", {"device", "numa", "node"})};
    tier.bytes = table.integer("bytes", 1, std::int64_t{1} << 60);
    tier.read_bytes_per_s = table.number("read_gbs", 1e-6, 1e6) * 1e9;
    tier.write_bytes_per_s =
        table.number_or("write_gbs", 1e-6, 1e6, tier.read_bytes_per_s / 1e9) * 1e9;
    tier.latency_ns = table.number("latency_us", 1e-3, 1e7) * 1e3;
    tier.source = table.string("source");
    topology.tiers.push_back(std::move(tier));
  }
}

// The first device without a way to the first one; -1: none.
int unreachable_device(const Topology& topology, const std::vector<int>& devices) {
  const RouteTree tree = Router(topology).to(devices.front());
  for (const int device : devices) {
    if (tree.hops[as_size(device)] < 0) return device;
  }
  return -1;
}

// In either direction.
int parted_device(const Topology& topology, const std::vector<int>& devices) {
  const int parted = unreachable_device(topology, devices);
  const bool has_one_way = std::ranges::any_of(
      topology.figures, [](const LinkFigure& figure) { return figure.duplex == Duplex::one_way; });
  if (parted >= 0 || !has_one_way) return parted;
  Topology reversed = topology;
  for (Link& link : reversed.links) std::swap(link.from, link.to);
  return unreachable_device(reversed, devices);
}

void check_profile(const TomlTable& root, const Topology& topology, std::size_t devices) {
  if (topology.profile != "lite") return;
  const auto refuse = [&](const std::string& what) {
    throw refused("profile lite: " + what, root.where("profile"),
                  "at most 2 devices on one leaf without RDMA; others are profile \"full\"");
  };
  if (devices > lite_devices_max) refuse(std::to_string(devices) + " devices");
  const auto switches =
      std::ranges::count(topology.entities, EntityKind::network_switch, &Entity::kind);
  if (as_size(switches) > lite_switches_max) {
    refuse(std::to_string(switches) + " switches");
  }
  for (const LinkFigure& figure : topology.figures) {
    if (is_rdma(figure.transport)) refuse("RDMA in [" + figure.name + "]");
  }
}

Topology read(const TomlTable& root) {
  Topology out{.id = root.string("id"),
               .name = root.string("name"),
               .profile = root.has("profile") ? root.choice("profile", {"lite", "full"}) : "full",
               .device = root.string_or("device", "")};
  if (root.has("notes")) out.notes = root.strings("notes");
  const FabricPlan plan = read_plan(root);
  if (root.has("node")) expand(plan, out);
  std::vector<std::string> where(out.entities.size(), plan.node.where);
  Names names;
  for (const auto i : indices(out.entities)) {
    names.emplace(out.entities[i].name, as_int(i));
  }
  read_entities(root, out, names, where);
  read_links(root, out, names);
  read_groups(root, out, names);
  read_tiers(root, out);
  root.finish();
  const std::vector<int> devices = out.devices();
  if (devices.empty()) {
    throw refused("no device stands in this fabric", root.where("id"),
                  "add [node], or [[entity]] of kind device");
  }
  if (const int parted = parted_device(out, devices); parted >= 0) {
    const auto name = [&](int i) { return out.entities[as_size(i)].name; };
    throw refused("disconnected: '" + name(parted) + "' and '" + name(devices.front()) +
                      "' do not reach each other",
                  where[as_size(parted)], "add the links between them");
  }
  check_profile(root, out, devices.size());
  if (out.levels.empty() && devices.size() > 1) out.levels.push_back({"all", {devices}});
  return out;
}

}  // namespace

Topology read_fabric(const std::string& path) {
  return read(TomlTable::parse_file(path, "fabric"));
}

Topology parse_fabric(std::string_view text, std::string_view where) {
  return read(TomlTable::parse(text, where));
}

std::vector<Topology> known_fabrics(const std::vector<std::filesystem::path>& folders) {
  std::vector<Topology> out;
  for (const auto& folder : folders) {
    std::vector<Topology> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".toml") found.push_back(read_fabric(entry.path().string()));
    }
    std::erase_if(
        found, [&](const Topology& topology) { return contains(out, topology.id, &Topology::id); });
    std::ranges::move(found, std::back_inserter(out));
  }
  std::ranges::sort(out, {}, &Topology::id);
  return out;
}

Topology known_fabric(const std::string& id, const std::vector<std::filesystem::path>& folders) {
  if (id.ends_with(".toml") || id == "-") return read_fabric(id);
  // A name that could leave the folder is no file name.
  if (id.find_first_of("/\\") == std::string::npos) {
    for (const auto& folder : folders) {
      const std::filesystem::path path = folder / (id + ".toml");
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(path, ignored)) continue;
      Topology topology = read_fabric(path.string());
      if (topology.id == id) return topology;
    }
  }
  std::vector<Topology> known = known_fabrics(folders);
  std::vector<std::string> names;
  for (Topology& topology : known) {
    if (topology.id == id) return std::move(topology);
    names.push_back(topology.id);
  }
  if (names_file(id)) return read_fabric(id);
  throw refused("unknown_fabric: '" + printable(id) + "'", {}, suggestion(id, names));
}

}  // namespace halmark::fabric
