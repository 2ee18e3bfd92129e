// Which device each shard is, so that the shards of a tensor-parallel group, which exchange in
// every layer, lie inside one NUMA domain where that is possible.
#pragma once

#include <cstdint>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "simulate/fabric/topology.hpp"

namespace halmark::simulate {

struct Placement {
  std::vector<int> entities;   // of the topology, by shard
  std::int64_t groups = 0;     // tensor-parallel ones
  std::int64_t in_domain = 0;  // of these, inside one NUMA domain
  bool has_domains = false;    // the topology states any
};

// Whole groups from every domain first, in the order of the fabric; what is left of the domains of
// a node makes groups of that node, and then of all. No placement has more groups in one domain.
// The topology must have that many devices.
Placement place_shards(const fabric::Topology& topology, const Parallel& parallel);

}  // namespace halmark::simulate
