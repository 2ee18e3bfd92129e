#include "simulate/sharding/placement.hpp"

#include <map>
#include <utility>

#include "core/lists.hpp"

namespace halmark::simulate {
namespace {

using Domain = std::pair<int, int>;  // node, NUMA domain

// Takes whole groups of `size` out of each list, in order, until enough shards are placed.
template <class Key>
void take_groups(std::map<Key, std::vector<int>>& lists, std::size_t size, std::size_t wanted,
                 std::vector<int>& out) {
  for (auto& [key, list] : lists) {
    while (list.size() >= size && out.size() < wanted) {
      const auto end = list.begin() + as_int64(size);
      out.insert(out.end(), list.begin(), end);
      list.erase(list.begin(), end);
    }
  }
}

}  // namespace

Placement place_shards(const fabric::Topology& topology, const Parallel& parallel) {
  const auto tp = as_size(parallel.tp);
  const auto shards = as_size(parallel.devices());
  std::map<Domain, std::vector<int>> domains;
  Placement out;
  for (const int device : topology.devices()) {
    const fabric::Entity& entity = topology.entities[as_size(device)];
    out.has_domains = out.has_domains || entity.numa >= 0;
    domains[{entity.node, entity.numa}].push_back(device);
  }
  take_groups(domains, tp, shards, out.entities);
  std::map<int, std::vector<int>> nodes;
  for (const auto& [domain, left] : domains) {
    auto& of_node = nodes[domain.first];
    append_all(of_node, left);
  }
  take_groups(nodes, tp, shards, out.entities);
  std::map<int, std::vector<int>> all;
  for (const auto& [node, left] : nodes) all[0].insert(all[0].end(), left.begin(), left.end());
  take_groups(all, tp, shards, out.entities);
  out.groups = as_int64(out.entities.size() / tp);
  for (const auto g : indices(out.entities.size() / tp)) {
    bool is_inside = true;
    const auto at = [&](std::size_t i) -> const fabric::Entity& {
      return topology.entities[as_size(out.entities[g * tp + i])];
    };
    for (std::size_t i = 1; i < tp; ++i) {
      is_inside = is_inside && at(i).node == at(0).node && at(i).numa == at(0).numa;
    }
    out.in_domain += is_inside ? 1 : 0;
  }
  return out;
}

}  // namespace halmark::simulate
