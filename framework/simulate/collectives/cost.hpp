// Closed-form times of collectives by algorithm and protocol. An alpha-beta model: steps times
// their latency, plus the bytes that the busiest link of each level carries over its bandwidth.
// Sources of the formulas: Thakur, Rabenseifner and Gropp (2005); Sanders, Speck and Traff (2009)
// for the two trees; Bruck et al. (1997); nccl-tests (doc/PERFORMANCE.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/collectives/collective.hpp"

namespace halmark::simulate {

enum class Algorithm {
  ring,              // n - 1 steps around; all_to_all pairwise
  tree,              // two binary trees, each with half of the message, pipelined
  halving_doubling,  // powers of two; all_to_all as Bruck does it
  one_shot,          // everyone to everyone, directly
  two_shot,          // a direct reduce-scatter, then a direct all-gather
  in_switch,         // the switches add, or copy
  hierarchical,      // level by level, each on its part of the message
};
std::string_view algorithm_name(Algorithm algorithm);

// `seconds` = latency_s + transfer_s.
struct CollectiveTime {
  Algorithm algorithm = Algorithm::ring;
  std::string protocol;   // "" = none was given
  double latency_s = 0;   // what a message of no bytes takes
  double transfer_s = 0;  // bytes over bandwidth, and additions that are not hidden
  double seconds() const { return latency_s + transfer_s; }
};

// Every algorithm that can, with every protocol of the fabric, fastest first; the order of equal
// times is that of the enumerators. Empty of one rank: nothing moves. `bytes` >= 0 as in
// collective.hpp. Throws as check() does.
std::vector<CollectiveTime> collective_times(Collective collective, double bytes,
                                             const FabricLevels& fabric);

// The fastest, and why.
struct ChosenCollective {
  std::optional<CollectiveTime> time;  // nothing of one rank
  double bound_s = 0;
  // "ring, Simple: 20.8 ms, bandwidth (99 %); hierarchical would take 24.5 ms (+18 %)"
  std::string reason;
  double seconds() const { return time ? time->seconds() : 0; }
};
ChosenCollective best_collective(Collective collective, double bytes, const FabricLevels& fabric);

}  // namespace halmark::simulate
