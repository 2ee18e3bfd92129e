// What a collective has to know of a fabric: its levels from the inside out, each the same for all
// ranks. A topology is folded into this value; nothing here knows nodes or cables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halmark::simulate {

struct FabricLevel {
  std::int64_t ranks = 1;  // groups of the level within that one level further out meets
  double latency_s = 0;    // one message, one way, beyond the sender's own work
  double bytes_per_s = 0;  // of one rank, one direction; a node's adapters divided by its ranks
  // Switches add what passes from this many ranks on (NVLink SHARP, SHARP); 0 = never. Libraries
  // begin at a count of their own: NCCL 2.27 with six B200.
  std::int64_t in_switch_ranks_min = 0;
  // What crosses this level leaves a rank through the adapter of the level inside of it, as over
  // leaf and spine; false = through one of its own, as NVLink and a network card are.
  bool shares_adapter = false;
  // Where ranks pass on what is for others, as in a torus: links that a message to any of the
  // others takes on average, each of them another rank's adapter; and the latency to a neighbour, 0
  // = latency_s. Rings, and the ring's levels of a hierarchy, send to neighbours alone.
  double hops = 1;
  double neighbour_latency_s = 0;
};

// A way to send the same steps: cheaper ones pay with bandwidth.
struct Protocol {
  std::string name;
  double bandwidth_share = 1;  // of the link, (0, 1]
  double base_s = 0;           // once per collective, ring and direct
  double hop_s = 0;            // per step, on top of the level's latency
  double tree_base_s = 0;      // the same of trees
  double tree_hop_s = 0;
};

struct FabricLevels {
  std::vector<FabricLevel> levels;  // innermost first; a group has the product of their ranks
  // Bytes that a rank adds per second where the addition is not hidden behind the transfer; 0 =
  // always hidden.
  double reduced_bytes_per_s = 0;
  // Whether the levels of a hierarchical collective work on different pieces at the same time (the
  // largest of them counts) or one after the other (their sum does).
  bool levels_overlap = false;
  std::vector<Protocol> protocols;  // none = full bandwidth, no cost of its own

  std::int64_t ranks() const;
};

// Throws Error (exit 2) where a figure is not finite, a bandwidth not above zero or a count below
// one: which level, what was found.
void check(const FabricLevels& fabric);

enum class Wire { nvlink, pcie, network };
// LL, LL128 and Simple with the constants of the tuning model of an NCCL release (src/graph/
// tuning.cc): LL carries a flag beside every word and loses three quarters of the bandwidth, LL128
// eight bytes of 128. Their steps contain the latency of the wire, so levels have none beside them.
// Trees of LL128 and Simple begin as rings do. Places to begin, to be replaced by a fit; no gate
// depends on them.
std::vector<Protocol> nccl_protocols(Wire wire);

}  // namespace halmark::simulate
