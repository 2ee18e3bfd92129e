#include <algorithm>
#include <functional>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "simulate/fabric/expansion.hpp"

namespace halmark::fabric {
namespace {

using Groups = std::vector<std::vector<int>>;

// Nodes of one scale-up domain after the other.
Groups domains_of(const Expansion& expansion, int nodes) {
  Groups out;
  for (std::size_t node = 0; node < expansion.devices.size(); ++node) {
    if (node % as_size(nodes) == 0) out.emplace_back();
    const auto& devices = expansion.devices[node];
    out.back().insert(out.back().end(), devices.begin(), devices.end());
  }
  return out;
}

void add_switches(Expansion& expansion, const ScaleUpPlan& plan) {
  const Groups domains = domains_of(expansion, plan.nodes);
  const int figure = expansion.add_figure(plan.link);
  for (const auto i : indices(domains)) {
    const int hub = expansion.add_entity(
        {.name = "domain" + std::to_string(i) + ".switch", .kind = EntityKind::network_switch});
    for (const int device : domains[i]) expansion.add_link(device, hub, figure);
  }
  expansion.add_level("domain", domains);
}

// A switch in every node, and one that joins those of a domain: many chips that hardware stripes
// over stand here as one.
void add_two_tiers(Expansion& expansion, const ScaleUpPlan& plan) {
  const int figure = expansion.add_figure(plan.link);
  const int uplink = expansion.add_figure(*plan.uplink);
  int top = -1;
  for (std::size_t node = 0; node < expansion.devices.size(); ++node) {
    if (node % as_size(plan.nodes) == 0) {
      const std::size_t domain = node / as_size(plan.nodes);
      top = expansion.add_entity({.name = "domain" + std::to_string(domain) + ".switch",
                                  .kind = EntityKind::network_switch});
    }
    const int hub = expansion.add_entity({.name = "node" + std::to_string(node) + ".switch",
                                          .kind = EntityKind::network_switch,
                                          .node = as_int(node)});
    for (const int device : expansion.devices[node]) expansion.add_link(device, hub, figure);
    expansion.add_link(hub, top, uplink);
  }
  expansion.add_level("domain", domains_of(expansion, plan.nodes));
}

// Ranks count the longest dimension slowest, so that halves of the ranks are halves of the torus.
std::vector<int> longest_first(std::vector<int> dims) {
  std::ranges::sort(dims, std::greater<>());
  return dims;
}

// Where the product of lengths stops, long before it overflows.
constexpr std::size_t shape_max = std::size_t{1} << 40;

void add_torus(Expansion& expansion, const ScaleUpPlan& plan) {
  const std::vector<int> dims = longest_first(plan.dims);
  std::vector<int> devices;
  for (const auto& of_node : expansion.devices) {
    append_all(devices, of_node);
  }
  std::size_t size = 1;
  for (const int dim : dims) size = std::min(size * as_size(dim), shape_max);
  if (size != devices.size()) {
    throw refused("a torus of " + std::to_string(size) + " devices, but the nodes have " +
                      std::to_string(devices.size()),
                  plan.where, "make shape and [node] agree");
  }
  const int figure = expansion.add_figure(plan.link);
  for (const int device : devices) {
    expansion.topology.entities[as_size(device)].forwards = true;
  }
  std::size_t stride = devices.size();
  for (const int dim : dims) {
    const auto length = as_size(dim);
    stride /= length;
    for (const auto rank : indices(devices)) {
      const std::size_t at = rank / stride % length;
      const bool is_last = at + 1 == length;
      // Of two devices the way back is the way there.
      if (is_last && (!plan.wraps || length < 3)) continue;
      const std::size_t after = is_last ? rank - at * stride : rank + stride;
      expansion.add_link(devices[rank], devices[after], figure);
    }
  }
  expansion.add_level(plan.wraps ? "torus" : "mesh", {devices});
}

}  // namespace

int Expansion::add_figure(const StatedFigure& stated) {
  topology.figures.push_back(stated.figure);
  return as_int(topology.figures.size()) - 1;
}

int Expansion::add_entity(Entity entity) {
  if (topology.entities.size() >= entities_max) {
    throw refused("more than " + std::to_string(entities_max) + " devices, adapters and switches",
                  plan.node.where, "lower the counts");
  }
  topology.entities.push_back(std::move(entity));
  return as_int(topology.entities.size()) - 1;
}

void Expansion::add_link(int from, int to, int figure, int cables) {
  if (topology.links.size() >= links_max) {
    throw refused("more than " + std::to_string(links_max) + " links", plan.node.where,
                  "lower the counts");
  }
  topology.links.push_back({from, to, figure, cables});
}

void Expansion::add_level(std::string name, Groups groups) {
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  const bool is_known = std::ranges::any_of(
      topology.levels, [&](const Level& level) { return level.groups == groups; });
  if (groups.empty() || is_known) return;
  topology.levels.push_back({std::move(name), std::move(groups)});
}

void add_nodes(Expansion& expansion) {
  const NodePlan& plan = expansion.plan.node;
  const int between = plan.host && plan.numa > 1 ? expansion.add_figure(*plan.between_numa) : -1;
  if (plan.host) expansion.host_figure = expansion.add_figure(*plan.host);
  // Beside a scale-up link nobody sends to another device through the host.
  const bool host_forwards = !expansion.plan.scale_up;
  Groups numa_groups;
  for (int node = 0; node < plan.count; ++node) {
    const std::string name = "node" + std::to_string(node);
    std::vector<int> devices, hosts;
    for (int numa = 0; plan.host && numa < plan.numa; ++numa) {
      hosts.push_back(expansion.add_entity({.name = name + ".numa" + std::to_string(numa),
                                            .kind = EntityKind::host,
                                            .node = node,
                                            .numa = numa,
                                            .forwards = host_forwards}));
      for (const int other : below(numa)) {
        expansion.add_link(hosts[as_size(other)], hosts.back(), between);
      }
    }
    int previous = -1;
    for (int i = 0; i < plan.devices; ++i) {
      const int numa = as_int(std::int64_t{i} * plan.numa / plan.devices);
      if (numa != previous) numa_groups.emplace_back();
      previous = numa;
      devices.push_back(expansion.add_entity({.name = name + ".device" + std::to_string(i),
                                              .kind = EntityKind::device,
                                              .node = node,
                                              .numa = numa,
                                              .forwards = false}));
      numa_groups.back().push_back(devices.back());
      if (hosts.empty()) continue;
      expansion.add_link(devices.back(), hosts[as_size(numa)], expansion.host_figure);
    }
    expansion.devices.push_back(std::move(devices));
    expansion.hosts.push_back(std::move(hosts));
  }
  const bool is_torus =
      expansion.plan.scale_up && expansion.plan.scale_up->kind == ScaleUpPlan::Kind::torus;
  if (is_torus) return;  // hosts say nothing of who is near in it
  if (!expansion.plan.scale_up && plan.numa > 1) expansion.add_level("numa", numa_groups);
  expansion.add_level("node", expansion.devices);
}

void add_scale_up(Expansion& expansion) {
  const ScaleUpPlan& plan = *expansion.plan.scale_up;
  if (plan.kind == ScaleUpPlan::Kind::torus) return add_torus(expansion, plan);
  if (expansion.plan.node.count % plan.nodes != 0) {
    throw refused(std::to_string(expansion.plan.node.count) + " nodes are no whole domains of " +
                      std::to_string(plan.nodes),
                  plan.where, "make nodes a divisor of [node] count");
  }
  if (plan.kind == ScaleUpPlan::Kind::one_switch) return add_switches(expansion, plan);
  add_two_tiers(expansion, plan);
}

void expand(const FabricPlan& plan, Topology& topology) {
  Expansion expansion{.plan = plan, .topology = topology};
  add_nodes(expansion);
  if (plan.scale_up) add_scale_up(expansion);
  if (plan.network) add_network(expansion);
}

}  // namespace halmark::fabric
