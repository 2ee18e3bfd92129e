#include "simulate/fabric/level_view.hpp"

#include <algorithm>
#include <limits>

#include "core/lists.hpp"
#include "simulate/fabric/capacity.hpp"
#include "simulate/fabric/routes.hpp"

namespace halmark::fabric {
namespace {

using Group = std::vector<int>;

constexpr std::size_t looked_at_max = 64;
constexpr double unset = std::numeric_limits<double>::infinity();

// The number of each device's group at one level, -1 outside of all.
std::vector<int> membership(const Level& level, std::size_t entities) {
  std::vector<int> out(entities, -1);
  for (const auto g : indices(level.groups)) {
    for (const int device : level.groups[g]) {
      out[as_size(device)] = as_int(g);
    }
  }
  return out;
}

bool lies_inside(const Group& group, const std::vector<int>& members) {
  const int outer = members[as_size(group.front())];
  return outer >= 0 &&
         std::ranges::all_of(group, [&](int device) { return members[as_size(device)] == outer; });
}

struct Part {
  Group devices;
  std::size_t group;  // of the level
};

// The parts that a level joins: groups of the lower levels that lie inside one of its groups and
// inside no other such part; single ranks where there are none.
std::vector<Part> parts_of(const Topology& topology, std::size_t level) {
  const Level& outer = topology.levels[level];
  const std::vector<int> members = membership(outer, topology.entities.size());
  std::vector<Part> out;
  std::vector<std::vector<int>> taken;  // membership of the levels whose groups are parts
  for (std::size_t lower = level; lower-- > 0;) {
    const Level& inner = topology.levels[lower];
    const bool is_nested = std::ranges::all_of(inner.groups, [&](const Group& group) {
      return lies_inside(group, members) &&
             std::ranges::none_of(taken, [&](const auto& t) { return lies_inside(group, t); });
    });
    if (!is_nested) continue;
    taken.push_back(membership(inner, topology.entities.size()));
    for (const Group& group : inner.groups) {
      const int of = members[as_size(group.front())];
      if (group.size() < outer.groups[as_size(of)].size()) {
        out.push_back({group, as_size(of)});
      }
    }
  }
  if (!out.empty()) return out;
  for (const auto g : indices(outer.groups)) {
    for (const int device : outer.groups[g]) out.push_back({{device}, g});
  }
  return out;
}

std::vector<Part> evenly_spaced(std::vector<Part> parts) {
  if (parts.size() <= looked_at_max) return parts;
  return mapped(indices(looked_at_max),
                [&](const auto i) { return parts[i * (parts.size() - 1) / (looked_at_max - 1)]; });
}

Group rest_of(const Group& group, const Group& part, std::vector<char>& is_in_part) {
  for (const int device : part) is_in_part[as_size(device)] = 1;
  Group out;
  for (const int device : group) {
    if (!is_in_part[as_size(device)]) out.push_back(device);
  }
  for (const int device : part) is_in_part[as_size(device)] = 0;
  return out;
}

// Ranks that a group of a lower level has together are nearer than this level.
bool meet_lower(const std::vector<std::vector<int>>& lower, int a, int b) {
  return std::ranges::any_of(lower, [&](const std::vector<int>& members) {
    const int group = members[as_size(a)];
    return group >= 0 && group == members[as_size(b)];
  });
}

// Adds what the paths from the ranks `from` to `destination` are like.
void add_paths(const Topology& topology, const Router& router, const RouteTree& tree,
               const Group& from, const std::vector<std::vector<int>>& lower, LevelView& view) {
  for (const int rank : from) {
    const auto i = as_size(rank);
    if (tree.hops[i] < 0 || meet_lower(lower, rank, tree.to)) continue;
    if (view.latency_ns_nearest == 0 || tree.latency_ns[i] < view.latency_ns_nearest) {
      view.latency_ns_nearest = tree.latency_ns[i];
      view.hops_nearest = tree.hops[i];
    }
    if (tree.latency_ns[i] <= view.latency_ns_farthest) continue;
    view.latency_ns_farthest = tree.latency_ns[i];
    view.hops_farthest = tree.hops[i];
    const Route route = router.route(tree, rank);
    view.bytes_per_s_flow = route.bytes_per_s;
    const auto narrowest = std::ranges::min_element(
        route.links, {}, [&](int link) { return topology.figure_of(link).bytes_per_s; });
    view.transport = topology.figure_of(*narrowest).transport;
  }
}

LevelView view_of(const Topology& topology, const Router& router, const Capacity& capacity,
                  std::size_t level) {
  const Level& here = topology.levels[level];
  LevelView out{.name = here.name, .groups = here.groups.size(), .bytes_per_s_rank = unset};
  for (const Group& group : here.groups) out.ranks = std::max(out.ranks, group.size());
  std::vector<char> is_in_part(topology.entities.size(), 0);
  auto lower = mapped(indices(level), [&](const auto i) {
    return membership(topology.levels[i], topology.entities.size());
  });
  const std::vector<Part> parts = evenly_spaced(parts_of(topology, level));
  for (const Part& part : parts) {
    const Group rest = rest_of(here.groups[part.group], part.devices, is_in_part);
    if (rest.empty()) continue;
    const auto senders = as_double(std::min(part.devices.size(), rest.size()));
    out.bytes_per_s_rank =
        std::min(out.bytes_per_s_rank, capacity.routed(part.devices, rest) / senders);
    add_paths(topology, router, router.to(part.devices.front()), rest, lower, out);
  }
  if (out.hops_farthest > 0) return out;
  // A group that a lower level has as well: all of its ranks are nearer, and still what it joins.
  for (const Part& part : parts) {
    const Group rest = rest_of(here.groups[part.group], part.devices, is_in_part);
    add_paths(topology, router, router.to(part.devices.front()), rest, {}, out);
  }
  return out;
}

}  // namespace

std::vector<LevelView> level_views(const Topology& topology) {
  const Router router(topology);
  const Capacity capacity(topology);
  std::vector<LevelView> out;
  for (std::size_t level = 0; level < topology.levels.size(); ++level) {
    out.push_back(view_of(topology, router, capacity, level));
    if (level == 0 || !is_network(out[level - 1].transport)) continue;
    out[level].oversubscription = out[level - 1].bytes_per_s_rank / out[level].bytes_per_s_rank;
  }
  return out;
}

}  // namespace halmark::fabric
