// Servers on nodes, exactly: as few parts of servers beyond the first as possible, then as few
// nodes as possible. A tensor-parallel group lies within one domain of a node; a server over
// several nodes has as many of its groups on each, as engines want it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/chosen/deployment.hpp"

namespace halmark::exports {

struct ServerShape {
  int group_devices = 1, groups = 1;  // of one server
  bool may_span = false;              // over several nodes
};

struct PlacedServer {
  std::vector<std::size_t> nodes;  // one entry per part, in the order of ranks
};

struct Placement {
  std::vector<PlacedServer> servers;
  std::size_t extra_parts = 0;  // parts of all servers less their number
  std::size_t nodes_used = 0;
};

// Groups that each node can take.
std::vector<int> capacities(std::span<const ClusterNode> nodes, int group_devices);

// Nothing where they do not fit. Throws Error (exit 2) where exactness would take too long.
std::optional<Placement> place(std::span<const ClusterNode> nodes, const ServerShape& shape,
                               int servers);

}  // namespace halmark::exports
