#include "simulate/traffic/topology_links.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"

namespace halmark::traffic {
namespace {

using events::Hop;
using events::LinkIndex;
using fabric::Arc;
using fabric::Ecmp;
using simulate::Passage;

// Trees are as large as the topology.
constexpr std::size_t trees_kept_max = 512;

// Bits of a value that stand for it alike everywhere.
std::uint64_t mixed(std::uint64_t value) { return hash_u64(value, 0); }

events::Picoseconds picoseconds_of_ns(double ns) { return events::picoseconds(ns * 1e-9); }

}  // namespace

TopologyLinks::TopologyLinks(const fabric::Topology& topology, Ecmp policy, std::uint64_t seed,
                             events::TaskGraph& graph)
    : topology_(topology), router_(topology), policy_(policy), seed_(seed), graph_(graph) {
  links_.assign(graph.links(), -1);
  const auto add = [&](int link) {
    const double of_cable = topology.figure_of(link).bytes_per_s;
    const int cables = topology.links[as_size(link)].cables;
    const int count = policy == Ecmp::spray ? 1 : cables;
    const Cables out{as_uint32(graph.links()), as_uint32(count)};
    for (int i = 0; i < count; ++i) {
      graph.add_link(policy == Ecmp::spray ? of_cable * cables : of_cable);
      links_.push_back(link);
    }
    return out;
  };
  for (const int link : below(as_int(topology.links.size()))) {
    forth_.push_back(add(link));
    // Of one way alone the way back is never asked for.
    const bool has_back = topology.figure_of(link).duplex == fabric::Duplex::full;
    back_.push_back(has_back ? add(link) : forth_.back());
  }
  flows_.assign(graph.links(), 0);
}

std::string TopologyLinks::name_of(events::LinkIndex index) const {
  const auto link = as_size(link_of(index));
  const fabric::Link& ends = topology_.links[link];
  const auto entity = [&](int i) { return topology_.entities[as_size(i)].name; };
  const bool is_forth = events::at(index) < forth_[link].first + forth_[link].count;
  const Cables& cables = is_forth ? forth_[link] : back_[link];
  const bool shares = forth_[link].first == back_[link].first;
  std::string out = entity(is_forth ? ends.from : ends.to);
  out += shares ? " - " : " -> ";
  out += entity(is_forth ? ends.to : ends.from);
  if (cables.count > 1) out += " #" + std::to_string(events::at(index) - cables.first);
  return out;
}

const fabric::RouteTree& TopologyLinks::tree_to(int destination) {
  if (const auto* known = find_value(trees_, destination)) return *known;
  if (trees_.size() >= trees_kept_max) trees_.clear();
  return trees_.emplace(destination, router_.to(destination)).first->second;
}

Passage TopologyLinks::passage(int from, int to, std::uint64_t flow) {
  const fabric::RouteTree& tree = tree_to(to);
  if (from == to || tree.hops[as_size(from)] < 0) {
    const auto name = [&](int i) { return topology_.entities[as_size(i)].name; };
    throw refused("no way from '" + name(from) + "' to '" + name(to) + "'", topology_.id);
  }
  if (policy_ == Ecmp::spray) return all_ways(tree, from);
  const auto ends = as_uint64(from) << 32 | as_uint64(to);
  return one_way(tree, from, mixed(seed_ ^ mixed(ends ^ mixed(flow))));
}

std::uint32_t TopologyLinks::chosen(const std::vector<std::uint32_t>& choices, std::uint64_t hash) {
  if (policy_ == Ecmp::hash) return choices[hash % choices.size()];
  return *std::ranges::min_element(choices, {}, [&](std::uint32_t link) { return flows_[link]; });
}

Passage TopologyLinks::one_way(const fabric::RouteTree& tree, int from, std::uint64_t flow) {
  std::vector<Hop> hops;
  double latency_ns = 0;
  std::vector<std::uint32_t> choices;
  std::vector<Arc> arcs;
  for (int at = from; at != tree.to;) {
    choices.clear();
    arcs.clear();
    for (const Arc& arc : router_.next(tree, at)) {
      const Cables cables = cables_of(arc);
      for (const std::uint32_t i : below(cables.count)) {
        choices.push_back(cables.first + i);
        arcs.push_back(arc);
      }
    }
    const std::uint32_t link = chosen(choices, mixed(flow ^ mixed(as_uint64(at))));
    const auto index = as_size(std::ranges::find(choices, link) - choices.begin());
    ++flows_[link];
    hops.push_back({static_cast<LinkIndex>(link), 1});
    latency_ns += topology_.figure_of(arcs[index].link).latency_ns;
    at = arcs[index].to;
  }
  return {.path = graph_.add_path(hops), .latency_ps = picoseconds_of_ns(latency_ns)};
}

// Packets over every way alike: at each entity over all cables that lead nearer.
Passage TopologyLinks::all_ways(const fabric::RouteTree& tree, int from) {
  std::vector<Hop> hops;
  std::map<int, double> here = {{from, 1}};  // share of the message by entity
  while (here.begin()->first != tree.to) {
    std::map<int, double> next;
    for (const auto& [at, share] : here) {
      const std::vector<Arc> arcs = router_.next(tree, at);
      double cables = 0;
      for (const Arc& arc : arcs) cables += topology_.links[as_size(arc.link)].cables;
      for (const Arc& arc : arcs) {
        const double part = share * topology_.links[as_size(arc.link)].cables / cables;
        hops.push_back({static_cast<LinkIndex>(cables_of(arc).first), part});
        next[arc.to] += part;
      }
    }
    here = std::move(next);
  }
  return {.path = graph_.add_path(hops),
          .latency_ps = picoseconds_of_ns(tree.latency_ns[as_size(from)])};
}

}  // namespace halmark::traffic
