#include "simulate/fabric_levels_of.hpp"

#include <limits>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "simulate/fabric/collision.hpp"
#include "simulate/fabric/level_view.hpp"
#include "simulate/fabric/routes.hpp"

namespace halmark::simulate {
namespace {

// By which the first rank of a level begins its way to the last one of its group.
int first_link(const fabric::Router& router, const fabric::Level& level) {
  const std::vector<int>& group = level.groups.front();
  return router.route(router.to(group.back()), group.front()).links.front();
}

// What is left of an even share of the uplinks where the flows of `inside` ranks leave together,
// from one group of a level to the rank at the same place in the next.
double uplink_share(const fabric::Topology& topology, const fabric::Router& router,
                    const fabric::Level& level, std::size_t inside) {
  const std::vector<int>& group = level.groups.front();
  if (topology.ecmp == fabric::Ecmp::spray || inside >= group.size()) return 1;
  const fabric::RouteTree tree = router.to(group[inside]);
  double of_flow = std::numeric_limits<double>::infinity();
  for (int at = group.front(); at != tree.to;) {
    const std::vector<fabric::Arc> ways = router.next(tree, at);
    std::int64_t cables = 0;
    for (const fabric::Arc& arc : ways) {
      cables += topology.links[as_size(arc.link)].cables;
    }
    const fabric::LinkFigure& figure = topology.figure_of(ways.front().link);
    if (cables > 1 && fabric::is_network(figure.transport)) {
      return slowest_flow_share(topology.ecmp, {.flows = as_int64(inside),
                                                .uplinks = cables,
                                                .bytes_per_s = figure.bytes_per_s,
                                                .bytes_per_s_flow = of_flow});
    }
    of_flow = std::min(of_flow, figure.bytes_per_s);
    at = ways.front().to;
  }
  return 1;
}

// Links from the first rank of a group to any of the others, on average, where devices pass on what
// is for others; else 1, as a switch takes a message in and lets it out by one link of each end.
double mean_hops(const fabric::Topology& topology, const fabric::Router& router,
                 const std::vector<int>& group) {
  if (!topology.entities[as_size(group.front())].forwards) return 1;
  const fabric::RouteTree tree = router.to(group.front());
  double hops = 0;
  for (const int device : group) hops += tree.hops[as_size(device)];
  return hops / as_double(group.size() - 1);
}

}  // namespace

FabricLevels fabric_levels_of(const fabric::Topology& topology) {
  FabricLevels out;
  const fabric::Router router(topology);
  const std::vector<fabric::LevelView> views = fabric::level_views(topology);
  std::size_t inside = 1;
  int last_link = -1;
  for (const auto i : indices(views)) {
    const fabric::LevelView& view = views[i];
    if (view.name == "rail" || view.ranks == inside) continue;
    if (view.ranks % inside != 0) {
      throw refused("the groups of level '" + view.name + "' are not alike", topology.id,
                    "collectives are priced where each group has the same number of ranks");
    }
    const int link = first_link(router, topology.levels[i]);
    const double share = uplink_share(topology, router, topology.levels[i], inside);
    const double hops = mean_hops(topology, router, topology.levels[i].groups.front());
    out.levels.push_back({.ranks = as_int64(view.ranks / inside),
                          .latency_s = view.latency_ns_farthest * 1e-9,
                          .bytes_per_s = view.bytes_per_s_rank * share,
                          .shares_adapter = link == last_link,
                          .hops = hops,
                          .neighbour_latency_s = hops > 1 ? view.latency_ns_nearest * 1e-9 : 0});
    last_link = link;
    inside = view.ranks;
  }
  if (const std::size_t ranks = topology.devices().size(); ranks != inside) {
    throw refused("its groups hold " + std::to_string(inside) + " of " + std::to_string(ranks) +
                      " ranks: they are not alike",
                  topology.id,
                  "collectives are priced where each group has the same number of ranks");
  }
  return out;
}

}  // namespace halmark::simulate
