// What a rank gets at each level of a fabric: what costs of collectives are made of.
#pragma once

#include <string>
#include <vector>

#include "simulate/fabric/topology.hpp"

namespace halmark::fabric {

// Ranks of one group that no smaller group has together.
struct LevelView {
  std::string name;
  std::size_t groups = 0, ranks = 0;  // ranks of the largest group
  int hops_nearest = 0, hops_farthest = 0;
  double latency_ns_nearest = 0, latency_ns_farthest = 0;  // one way, without bytes
  double bytes_per_s_flow = 0;  // of one flow alone between the farthest: the least cable
  // Of each rank, one direction, when all ranks of a smaller group send to the rest of their group
  // at once: their cut over their number. The least over the smaller groups.
  double bytes_per_s_rank = 0;
  double oversubscription = 1;  // of a level over a network: what a rank has below it over this
  Transport transport = Transport::pcie;  // of the narrowest link between the farthest
};

// From the innermost. Smaller groups are those of lower levels that lie inside a group, else single
// ranks. Of more than 64 smaller groups 64 are looked at, evenly spaced: builders make them alike.
std::vector<LevelView> level_views(const Topology& topology);

}  // namespace halmark::fabric
