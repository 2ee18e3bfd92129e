// Collectives over the links of a topology: one group of ranks alone, or several at once.
#pragma once

#include "simulate/collectives/lowering.hpp"
#include "simulate/events/simulation.hpp"
#include "simulate/fabric/topology.hpp"

namespace halmark::traffic {

// Every `groups`-th rank is of one group, as replicas are that lie side by side in every node. The
// levels of one of them. Throws Error (exit 2) where the ranks of the levels cannot be shared out.
simulate::FabricLevels levels_of_group(const simulate::FabricLevels& fabric, std::int64_t groups);

struct Contention {
  std::int64_t groups = 1;
  fabric::Ecmp policy = fabric::Ecmp::spray;
  std::uint64_t seed = 1;
  double events_max = 1e6;  // of one simulation
  double rates_max = 3e7;   // as of SimulationOptions
};

struct GroupTimes {
  double events = 0;                    // foretold, of all groups
  bool is_simulated = false;            // not where one of the limits is reached
  double alone_s = 0;                   // the first group
  double slowest_s = 0, fastest_s = 0;  // of all groups at once
  double latency_s = 0;                 // on the critical path of the first group alone
};

// All groups do the same, by the same algorithm. `of_group`: levels_of_group() of the topology's
// levels. Protocols are left out: links alone. Throws as TopologyLinks does.
GroupTimes group_times(const fabric::Topology& topology, const simulate::FabricLevels& of_group,
                       simulate::Collective collective, simulate::Algorithm algorithm, double bytes,
                       const Contention& contention);

// The events of the first `count` groups, and where those of each begin; one more: where all end.
struct GroupGraph {
  events::TaskGraph graph;
  std::vector<std::size_t> begin;
};
GroupGraph group_graph(const fabric::Topology& topology, const simulate::LoweredWay& way,
                       const Contention& contention, std::int64_t count);

}  // namespace halmark::traffic
