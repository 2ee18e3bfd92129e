// The links of a topology in a simulation, and the way of each message over them.
#pragma once

#include <map>

#include "simulate/collectives/lowering.hpp"
#include "simulate/fabric/routes.hpp"

namespace halmark::traffic {

class TopologyLinks {
 public:
  // Adds a link to the graph for every direction of every cable; where messages are spread, one for
  // all cables of a link together. Refers to both. The same seed gives the same ways.
  TopologyLinks(const fabric::Topology& topology, fabric::Ecmp policy, std::uint64_t seed,
                events::TaskGraph& graph);

  // Between two devices, by the fewest links. `flow`: hashed with both ends, so that a flow keeps
  // its way; least_loaded counts the flows that it has placed. Throws Error (exit 2) where there is
  // no way.
  simulate::Passage passage(int from, int to, std::uint64_t flow);

  // The link of the topology that a link of the graph is of.
  int link_of(events::LinkIndex link) const { return links_[events::at(link)]; }
  // "node0.nic0 -> switch0", and which cable where each has a link of its own.
  std::string name_of(events::LinkIndex link) const;

 private:
  struct Cables {
    std::uint32_t first = 0, count = 0;  // links of the graph
  };
  Cables cables_of(const fabric::Arc& arc) const {
    const auto link = static_cast<std::size_t>(arc.link);
    return arc.from == topology_.links[link].from ? forth_[link] : back_[link];
  }
  const fabric::RouteTree& tree_to(int destination);
  simulate::Passage one_way(const fabric::RouteTree& tree, int from, std::uint64_t flow);
  simulate::Passage all_ways(const fabric::RouteTree& tree, int from);
  std::uint32_t chosen(const std::vector<std::uint32_t>& choices, std::uint64_t hash);

  const fabric::Topology& topology_;
  fabric::Router router_;
  fabric::Ecmp policy_;
  std::uint64_t seed_;
  events::TaskGraph& graph_;
  std::vector<Cables> forth_, back_;  // by link of the topology
  std::vector<int> links_;            // by link of the graph
  std::vector<std::uint32_t> flows_;  // placed on it
  std::map<int, fabric::RouteTree> trees_;
};

}  // namespace halmark::traffic
