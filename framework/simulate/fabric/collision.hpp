// What flows that choose their uplinks get of them.
#pragma once

#include <cstdint>

#include "simulate/fabric/topology.hpp"

namespace halmark::fabric {

// `flows` leave a leaf by `uplinks` cables, each flow by one of them (over all with spray).
struct Uplinks {
  std::int64_t flows = 1, uplinks = 1;
  double bytes_per_s = 1;       // of one uplink
  double bytes_per_s_flow = 1;  // that a flow can use: its adapter
};

// Mean rate of the slowest flow over what each would have if all uplinks were shared evenly, (0,
// 1]. hash: balls in bins; the distribution of the fullest bin is exact up to 512 flows, beyond
// that bins count as independent. least_loaded: the fullest has flows / uplinks, rounded up. Throws
// Error (exit 2) of counts or rates that are not above 0.
double slowest_flow_share(Ecmp policy, const Uplinks& uplinks);

}  // namespace halmark::fabric
