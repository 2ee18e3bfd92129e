// A fabric by words and counts, as files state it: nodes alike, what joins devices inside a
// scale-up domain, and the network of their adapters. expand() makes the links of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulate/fabric/topology.hpp"

namespace halmark::fabric {

// A figure and where it is stated, "file:line:column", for refusals.
struct StatedFigure {
  LinkFigure figure;
  std::string where;          // of the section
  std::string latency_where;  // of its latency
};

struct NodePlan {
  int count = 1, devices = 1, numa = 1;  // devices fill the NUMA domains in order
  std::string where;
  // Device to the host of its NUMA domain, and to its adapter. Without it no host exists.
  std::optional<StatedFigure> host;
  std::optional<StatedFigure> between_numa;  // needed where there are several
};

struct ScaleUpPlan {
  enum class Kind { one_switch, two_tier, torus };
  Kind kind = Kind::one_switch;
  int nodes = 1;          // of a domain
  std::vector<int> dims;  // of the torus; their product is the devices of the fabric
  bool wraps = true;      // a torus; else a mesh
  StatedFigure link;
  std::optional<StatedFigure> uplink;  // two_tier: the switch of a node to that of the domain
  std::string where;
};

struct NetworkPlan {
  enum class Kind { leaf, leaf_spine, rail };
  Kind kind = Kind::leaf;
  int nics = 1;            // of a node
  int nodes_per_leaf = 0;  // of a rail group too; 0: all nodes of a site
  int spines = 0;          // of a site
  int uplinks = 0;         // cables of a leaf to all spines
  Ecmp ecmp = Ecmp::spray;
  StatedFigure link;  // adapter to leaf
  std::optional<StatedFigure> uplink;
  std::string where;
};

struct WanPlan {
  int sites = 2;  // nodes are shared out evenly
  int cables = 1;
  StatedFigure link;
  std::string where;
};

struct FabricPlan {
  NodePlan node;
  std::optional<ScaleUpPlan> scale_up;
  std::optional<NetworkPlan> network;
  std::optional<WanPlan> wan;
};

inline constexpr std::size_t entities_max = 65536, links_max = std::size_t{1} << 20;

// Adds entities, figures, links and levels. Throws Error (exit 2) with the place of the section
// whose counts do not fit each other.
void expand(const FabricPlan& plan, Topology& topology);

}  // namespace halmark::fabric
