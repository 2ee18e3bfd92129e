// Adapters, leaves, spines and what joins sites.
#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "simulate/fabric/expansion.hpp"

namespace halmark::fabric {
namespace {

using Groups = std::vector<std::vector<int>>;

// What a leaf has below it.
struct Leaf {
  int entity;
  std::vector<int> ranks;
};

// The network of one site.
class Site {
 public:
  Site(Expansion& expansion, int site, int sites)
      : expansion_(expansion),
        plan_(*expansion.plan.network),
        prefix_(sites > 1 ? "site" + std::to_string(site) + "." : ""),
        nodes_(expansion.plan.node.count / sites),
        first_node_(site * nodes_),
        per_leaf_(plan_.nodes_per_leaf > 0 ? plan_.nodes_per_leaf : nodes_) {}

  // `link` and `uplink`: figures of the topology.
  void add(int link, int uplink) {
    for (int node = first_node_; node < first_node_ + nodes_; ++node) add_adapters(node, link);
    if (plan_.kind == NetworkPlan::Kind::leaf) return;
    for (const int spine : below(plan_.spines)) {
      tops_.push_back(add_switch("spine" + std::to_string(spine)));
      for (const Leaf& leaf : leaves_) {
        expansion_.add_link(leaf.entity, tops_.back(), uplink, plan_.uplinks / plan_.spines);
      }
    }
  }

  // The switches that a way out of the site begins at.
  std::vector<int> tops() const {
    if (!tops_.empty()) return tops_;
    return {leaves_.front().entity};
  }

  Groups leaf_groups() const {
    Groups out;
    for (const Leaf& leaf : leaves_) out.push_back(leaf.ranks);
    return out;
  }

  std::vector<int> ranks() const {
    std::vector<int> out;
    for (int node = first_node_; node < first_node_ + nodes_; ++node) {
      const auto& devices = expansion_.devices[as_size(node)];
      append_all(out, devices);
    }
    return out;
  }

  int add_switch(const std::string& name) {
    return expansion_.add_entity({.name = prefix_ + name, .kind = EntityKind::network_switch});
  }

 private:
  bool is_rail() const { return plan_.kind == NetworkPlan::Kind::rail; }

  Leaf& leaf_of(int node, int nic) {
    const int group = (node - first_node_) / per_leaf_;
    const auto index = as_size(is_rail() ? group * plan_.nics + nic : group);
    while (leaves_.size() <= index) {
      const std::string number = std::to_string(leaves_.size());
      leaves_.push_back({add_switch((is_rail() ? "rail" : "leaf") + number), {}});
    }
    return leaves_[index];
  }

  // Adapter i serves the i-th part of the devices. One of its own hangs on the device; a shared one
  // on the host of the first of them, else two devices would meet in it.
  void add_adapters(int node, int link) {
    const auto& devices = expansion_.devices[as_size(node)];
    const auto count = as_size(plan_.nics);
    for (const auto nic : indices(count)) {
      const std::size_t begin = nic * devices.size() / count;
      const std::size_t end = std::max(begin + 1, (nic + 1) * devices.size() / count);
      const int numa = expansion_.topology.entities[as_size(devices[begin])].numa;
      const int adapter = expansion_.add_entity(
          {.name = "node" + std::to_string(node) + ".nic" + std::to_string(nic),
           .kind = EntityKind::nic,
           .node = node,
           .numa = numa});
      Leaf& leaf = leaf_of(node, as_int(nic));
      expansion_.add_link(adapter, leaf.entity, link);
      const auto& hosts = expansion_.hosts[as_size(node)];
      const int below = count < devices.size() ? hosts[as_size(numa)] : devices[begin];
      expansion_.add_link(below, adapter, expansion_.host_figure);
      for (std::size_t i = begin; i < end; ++i) {
        const bool is_first_of_it = leaf.ranks.empty() || leaf.ranks.back() < devices[i];
        if (is_first_of_it) leaf.ranks.push_back(devices[i]);
      }
    }
  }

  Expansion& expansion_;
  const NetworkPlan& plan_;
  std::string prefix_;
  int nodes_, first_node_, per_leaf_;
  std::vector<Leaf> leaves_;
  std::vector<int> tops_;
};

void check_counts(const FabricPlan& plan, int sites) {
  const NetworkPlan& network = *plan.network;
  if (!plan.node.host) {
    throw refused("adapters need to be reached from the devices", network.where,
                  "add [node.host], the link from a device to its host and adapter");
  }
  if (plan.scale_up && network.nics < plan.node.devices) {
    throw refused(std::to_string(network.nics) + " adapters for " +
                      std::to_string(plan.node.devices) + " devices that [scale_up] joins",
                  network.where,
                  "give each device an adapter of its own, with its share of the bandwidth");
  }
  if (plan.node.count % sites != 0) {
    throw refused(std::to_string(plan.node.count) + " nodes cannot be shared out to " +
                      std::to_string(sites) + " sites",
                  plan.wan->where, "make sites a divisor of [node] count");
  }
  const int nodes = plan.node.count / sites;
  const int per_leaf = network.nodes_per_leaf > 0 ? network.nodes_per_leaf : nodes;
  if (nodes % per_leaf != 0) {
    throw refused(
        std::to_string(nodes) + " nodes do not fill leaves of " + std::to_string(per_leaf),
        network.where, "make nodes_per_leaf a divisor of the nodes of a site");
  }
  if (network.kind == NetworkPlan::Kind::leaf) {
    if (per_leaf == nodes) return;
    throw refused("leaves without a spine are disconnected", network.where,
                  "leave nodes_per_leaf out, or use kind = \"leaf_spine\"");
  }
  if (network.uplinks % network.spines != 0) {
    throw refused(std::to_string(network.uplinks) + " uplinks cannot be shared out to " +
                      std::to_string(network.spines) + " spines",
                  network.where, "make spines a divisor of uplinks");
  }
}

// Every pair of sites has cables of its own between two gateways.
void join_sites(Expansion& expansion, std::vector<Site>& sites, int uplink) {
  const int wan = expansion.add_figure(expansion.plan.wan->link);
  std::vector<int> gateways;
  for (Site& site : sites) {
    const int gateway = site.add_switch("gateway");
    for (const int top : site.tops()) {
      expansion.add_link(top, gateway, uplink, expansion.plan.wan->cables);
    }
    for (const int other : gateways) {
      expansion.add_link(other, gateway, wan, expansion.plan.wan->cables);
    }
    gateways.push_back(gateway);
  }
}

}  // namespace

void add_network(Expansion& expansion) {
  const NetworkPlan& plan = *expansion.plan.network;
  const int count = expansion.plan.wan ? expansion.plan.wan->sites : 1;
  check_counts(expansion.plan, count);
  expansion.topology.ecmp = plan.ecmp;
  const int link = expansion.add_figure(plan.link);
  const int uplink = plan.uplink ? expansion.add_figure(*plan.uplink) : link;
  std::vector<Site> sites;
  Groups leaves, whole_sites;
  for (const int i : below(count)) {
    sites.emplace_back(expansion, i, count);
    sites.back().add(link, uplink);
    for (auto& group : sites.back().leaf_groups()) leaves.push_back(std::move(group));
    whole_sites.push_back(sites.back().ranks());
  }
  expansion.add_level(plan.kind == NetworkPlan::Kind::rail ? "rail" : "leaf", leaves);
  expansion.add_level(count > 1 ? "site" : "spine", whole_sites);
  if (count < 2) return;
  join_sites(expansion, sites, uplink);
  std::vector<int> all;
  for (const auto& ranks : whole_sites) append_all(all, ranks);
  expansion.add_level("wan", {all});
}

}  // namespace halmark::fabric
