// A fabric as a document (results/schema/fabric.md).
#pragma once

#include "core/json/json_type.hpp"
#include "simulate/fabric/capacity.hpp"
#include "simulate/fabric/level_view.hpp"

namespace halmark::fabric {

// How many of each kind.
struct EntityCounts {
  std::size_t devices = 0, hosts = 0, nics = 0, switches = 0;
};
EntityCounts counts_of(const Topology& topology);

// Everything: entities, figures, links, tiers, levels and bisection.
Json fabric_json(const Topology& topology, const std::vector<LevelView>& levels,
                 const Bisection& bisection);

}  // namespace halmark::fabric
