// How much a fabric carries between sets of ranks, whatever the routing: maximum flow.
#pragma once

#include <span>
#include <vector>

#include "simulate/fabric/topology.hpp"

namespace halmark::fabric {

class Capacity {
 public:
  explicit Capacity(const Topology& topology);  // refers to it
  // The greatest total rate in B/s from the devices `from` to the devices `to`, all sending at
  // once; it equals the least capacity of links whose removal parts them (max-flow min-cut).
  // Devices of neither set take part only where they forward.
  double between(std::span<const int> from, std::span<const int> to) const;
  // The same over ways that routing takes: no longer than the shortest one to the farthest of `to`.
  // Two devices of a node do not send through the network as well because it has room.
  double routed(std::span<const int> from, std::span<const int> to) const;

 private:
  double flow(std::span<const int> from, std::span<const int> to,
              const std::vector<char>& is_used) const;

  const Topology& topology_;
  Arcs arcs_;
};

struct Bisection {
  double bytes_per_s = 0;   // one direction; 0 of a single device
  bool is_minimum = false;  // over all halves; else of the first half of the ranks to the second
};
// Halves differ by at most one device. All halves are looked at up to 12 devices (462 pairs);
// beyond that finding the least one is NP-hard, and ranks stand in the order of their groups, a
// torus along its longest dimension, so that the middle is where such fabrics are narrowest.
Bisection bisection_of(const Topology& topology);

}  // namespace halmark::fabric
