// Shortest paths by hops, as switches route: all paths of the least number of links are equal cost.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/fabric/topology.hpp"

namespace halmark::fabric {

// All shortest paths to one entity, by the entity where they begin.
struct RouteTree {
  int to = 0;
  std::vector<int> hops;            // links on the way; -1: there is none
  std::vector<double> paths;        // how many of equal cost; a double because it grows as n!
  std::vector<double> latency_ns;   // of the quickest of them: the sum over its links
  std::vector<double> bytes_per_s;  // of the widest of them for one flow: the least cable on it
};

// One path.
struct Route {
  std::vector<int> entities;  // both ends too
  std::vector<int> links;
  double latency_ns = 0, bytes_per_s = 0;
};

class Router {
 public:
  explicit Router(const Topology& topology);  // refers to it

  RouteTree to(int destination) const;
  // The arcs out of `at` that begin a shortest path: what ECMP chooses from.
  std::vector<Arc> next(const RouteTree& tree, int at) const;
  // The path of a flow: at each entity a hash of the flow chooses among the equal ones, so that a
  // flow keeps its path. Empty where there is none.
  Route route(const RouteTree& tree, int from, std::uint64_t flow = 0) const;

  const Arcs& arcs() const { return arcs_; }

 private:
  const Topology& topology_;
  Arcs arcs_;
};

}  // namespace halmark::fabric
