#include "simulate/fabric_levels_of.hpp"

#include "core/text/error.hpp"
#include "simulate/fabric/level_view.hpp"

namespace halmark::simulate {

FabricLevels fabric_levels_of(const fabric::Topology& topology) {
  FabricLevels out;
  std::size_t inside = 1;
  for (const fabric::LevelView& view : fabric::level_views(topology)) {
    if (view.name == "rail" || view.ranks == inside) continue;
    if (view.ranks % inside != 0) {
      throw refused("the groups of level '" + view.name + "' are not alike", topology.id,
                    "collectives are priced where each group has as many ranks as the next");
    }
    out.levels.push_back({.ranks = static_cast<std::int64_t>(view.ranks / inside),
                          .latency_s = view.latency_ns_farthest * 1e-9,
                          .bytes_per_s = view.bytes_per_s_rank});
    inside = view.ranks;
  }
  if (const std::size_t ranks = topology.devices().size(); ranks != inside) {
    throw refused("its groups hold " + std::to_string(inside) + " of " + std::to_string(ranks) +
                      " ranks: they are not alike",
                  topology.id, "collectives are priced where each group has as many ranks");
  }
  return out;
}

}  // namespace halmark::simulate
