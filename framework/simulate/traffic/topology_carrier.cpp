#include "simulate/traffic/topology_carrier.hpp"

#include <algorithm>

#include "core/lists.hpp"

namespace halmark::traffic {

std::vector<int> ranks_of(const fabric::Topology& topology) {
  std::vector<int> out = topology.devices();
  // By the group of the outermost level, then by that of the next: levels that cross the others, as
  // rails do, change nothing because nodes come after them.
  for (const fabric::Level& level : topology.levels) {
    if (level.name == "rail") continue;
    std::vector<std::size_t> group(topology.entities.size(), level.groups.size());
    for (const auto g : indices(level.groups)) {
      for (const int device : level.groups[g]) group[as_size(device)] = g;
    }
    std::ranges::stable_sort(out, {}, [&](int device) { return group[as_size(device)]; });
  }
  return out;
}

simulate::Passage TopologyCarrier::passage(std::int32_t from, std::int32_t to, std::uint32_t flow) {
  const auto [known, is_new] = passages_.try_emplace({from, to, flow});
  if (is_new) {
    known->second = links_.passage(ranks_[as_size(from)], ranks_[as_size(to)], flow);
  }
  return known->second;
}

}  // namespace halmark::traffic
