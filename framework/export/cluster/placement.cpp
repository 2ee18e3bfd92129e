// Servers are alike, so whole ones fill the nodes that take the most of them first: no other choice
// has fewer parts, and none uses fewer nodes. Where that is not enough, servers are split by a
// search over what is left of each kind of node, which remembers every state that it has judged.
#include "export/cluster/placement.hpp"

#include <algorithm>
#include <map>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark::exports {
namespace {

constexpr std::size_t states_max = 200'000;

// Nodes with so many free groups, used by a server or not, are all alike.
struct Kind {
  int free = 0;
  bool is_used = false;
  auto operator<=>(const Kind&) const = default;
};
using Pool = std::map<Kind, int>;  // how many nodes of a kind
using State = std::pair<int, std::vector<std::pair<Kind, int>>>;

State state_of(const Pool& pool, int servers) { return {servers, {pool.begin(), pool.end()}}; }

struct Cost {
  std::size_t extra_parts = 0, new_nodes = 0;
  auto operator<=>(const Cost&) const = default;
};

class Splitting {
 public:
  explicit Splitting(int groups) : groups_(groups) {}

  // Of `servers` more ones; nothing where they do not fit.
  std::optional<Cost> best(const Pool& pool, int servers) {
    if (servers == 0) return Cost{};
    const State state = state_of(pool, servers);
    if (const auto* known = find_value(known_, state)) return known->cost;
    if (known_.size() >= states_max) {
      throw refused("these nodes are of too many kinds to split servers over them exactly", {},
                    "list fewer nodes, or points with smaller servers");
    }
    Answer out;
    for (int parts = 1; parts <= groups_; ++parts) {
      if (groups_ % parts == 0) try_parts(pool, {}, pool.end(), parts, parts, servers, out);
    }
    known_[state] = out;
    return out.cost;
  }

  // Kinds of the nodes that the next server takes.
  std::vector<Kind> choice(const Pool& pool, int servers) const {
    return known_.at(state_of(pool, servers)).kinds;
  }

  int groups_of_part(std::size_t parts) const { return groups_ / as_int(parts); }

  Pool without(const Pool& pool, const std::vector<Kind>& kinds) const {
    Pool out = pool;
    for (const Kind& kind : kinds) {
      if (--out[kind] == 0) out.erase(kind);
    }
    for (const Kind& kind : kinds) ++out[{kind.free - groups_of_part(kinds.size()), true}];
    return out;
  }

 private:
  struct Answer {
    std::optional<Cost> cost;
    std::vector<Kind> kinds;
  };

  // All multisets of `left` more nodes from the kinds in front of `end`.
  void try_parts(const Pool& pool, const std::vector<Kind>& chosen, Pool::const_iterator end,
                 int parts, int left, int servers, Answer& out) {
    if (left == 0) return judge(pool, chosen, servers, out);
    if (end == pool.begin()) return;
    const auto last = std::prev(end);
    const int most = last->first.free * parts >= groups_ ? std::min(left, last->second) : 0;
    for (int take = most; take >= 0; --take) {
      std::vector<Kind> more = chosen;
      more.insert(more.end(), as_size(take), last->first);
      try_parts(pool, more, last, parts, left - take, servers, out);
    }
  }

  void judge(const Pool& pool, const std::vector<Kind>& chosen, int servers, Answer& out) {
    const auto rest = best(without(pool, chosen), servers - 1);
    if (!rest) return;
    const auto fresh = as_size(std::ranges::count(chosen, false, &Kind::is_used));
    const Cost cost{rest->extra_parts + chosen.size() - 1, rest->new_nodes + fresh};
    if (!out.cost || cost < *out.cost) out = {cost, chosen};
  }

  int groups_;
  std::map<State, Answer> known_;
};

Placement whole(const std::vector<int>& free, int groups, int servers) {
  auto order = mapped(indices(free), std::identity());
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return free[i] / groups; });
  Placement out;
  for (const std::size_t node : order) {
    const int here = std::min(free[node] / groups, servers);
    if (here == 0) break;
    ++out.nodes_used;
    out.servers.insert(out.servers.end(), as_size(here), {{node}});
    servers -= here;
  }
  return out;
}

std::optional<Placement> split(std::vector<int> free, int groups, int servers) {
  Pool pool;
  for (const int f : free) ++pool[{f, false}];
  Splitting search(groups);
  const auto cost = search.best(pool, servers);
  if (!cost) return std::nullopt;
  Placement out{.extra_parts = cost->extra_parts, .nodes_used = cost->new_nodes};
  std::vector<bool> is_used(free.size());
  for (; servers > 0; --servers) {
    const std::vector<Kind> kinds = search.choice(pool, servers);
    pool = search.without(pool, kinds);
    std::vector<std::size_t> taken;
    for (const Kind& kind : kinds) {
      for (const auto i : indices(free)) {
        const bool is_free = !contains(taken, i);
        if (!is_free || free[i] != kind.free || is_used[i] != kind.is_used) continue;
        taken.push_back(i);
        break;
      }
    }
    for (const std::size_t i : taken) {
      free[i] -= search.groups_of_part(taken.size());
      is_used[i] = true;
    }
    out.servers.push_back({std::move(taken)});
  }
  return out;
}

}  // namespace

std::vector<int> capacities(std::span<const ClusterNode> nodes, int group_devices) {
  std::vector<int> out;
  for (const ClusterNode& node : nodes) {
    int groups = 0;
    for (const std::int64_t devices : node.domains) groups += as_int(devices) / group_devices;
    out.push_back(groups);
  }
  return out;
}

std::optional<Placement> place(std::span<const ClusterNode> nodes, const ServerShape& shape,
                               int servers) {
  const std::vector<int> free = capacities(nodes, shape.group_devices);
  std::int64_t fits_whole = 0, fits = 0;
  for (const int f : free) {
    fits_whole += f / shape.groups;
    fits += f;
  }
  if (fits_whole >= servers) return whole(free, shape.groups, servers);
  if (!shape.may_span || fits < std::int64_t{servers} * shape.groups) return std::nullopt;
  return split(free, shape.groups, servers);
}

}  // namespace halmark::exports
