#include "simulate/fabric/capacity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/lists.hpp"

namespace halmark::fabric {
namespace {

constexpr std::size_t all_halves_max = 12;
constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

// Dinic's algorithm on whole B/s, so that no rounding leaves a remainder that never ends.
class FlowNetwork {
 public:
  explicit FlowNetwork(std::size_t vertices) : edges_of_(vertices) {}

  // `back`: the capacity of the opposite direction.
  void add(int from, int to, std::int64_t capacity, std::int64_t back) {
    edges_of_[as_size(from)].push_back(as_int(edges_.size()));
    edges_.push_back({to, capacity});
    edges_of_[as_size(to)].push_back(as_int(edges_.size()));
    edges_.push_back({from, back});
  }

  std::int64_t maximum(int source, int sink) {
    std::int64_t total = 0;
    while (find_levels(source, sink)) {
      next_.assign(edges_of_.size(), 0);
      while (const std::int64_t pushed = push(source, sink, no_limit)) total += pushed;
    }
    return total;
  }

 private:
  struct Edge {
    int to;
    std::int64_t left;
  };

  bool find_levels(int source, int sink) {
    level_.assign(edges_of_.size(), -1);
    level_[as_size(source)] = 0;
    std::vector<int> queue = {source};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto at = as_size(queue[i]);
      for (const int e : edges_of_[at]) {
        const Edge& edge = edges_[as_size(e)];
        int& level = level_[as_size(edge.to)];
        if (edge.left == 0 || level >= 0) continue;
        level = level_[at] + 1;
        queue.push_back(edge.to);
      }
    }
    return level_[as_size(sink)] >= 0;
  }

  // As deep as the shortest remaining path is long.
  std::int64_t push(int from, int sink, std::int64_t limit) {
    if (from == sink) return limit;
    const auto at = as_size(from);
    for (std::size_t& i = next_[at]; i < edges_of_[at].size(); ++i) {
      const auto e = as_size(edges_of_[at][i]);
      const int to = edges_[e].to;
      if (edges_[e].left == 0 || level_[as_size(to)] != level_[at] + 1) continue;
      const std::int64_t pushed = push(to, sink, std::min(limit, edges_[e].left));
      if (pushed == 0) continue;
      edges_[e].left -= pushed;
      edges_[e ^ 1].left += pushed;
      return pushed;
    }
    return 0;
  }

  std::vector<std::vector<int>> edges_of_;
  std::vector<Edge> edges_;
  std::vector<int> level_;
  std::vector<std::size_t> next_;
};

// The halves that hold the first device, as sets of bits: each pair of halves once.
Bisection least_half(const Capacity& capacity, const std::vector<int>& devices) {
  Bisection out{.bytes_per_s = std::numeric_limits<double>::infinity(), .is_minimum = true};
  const std::size_t n = devices.size();
  for (std::uint32_t set = 1; set < (1U << n); ++set) {
    const auto size = as_size(std::popcount(set));
    const bool is_half = size == n / 2 || size == n - n / 2;
    if ((set & 1U) == 0 || !is_half) continue;
    std::vector<int> from, to;
    for (const auto i : indices(n)) {
      ((set >> i & 1U) != 0 ? from : to).push_back(devices[i]);
    }
    out.bytes_per_s = std::min(out.bytes_per_s, capacity.between(from, to));
  }
  return out;
}

// Links from the nearest of a set to each entity, or from each to the nearest; -1: no way.
std::vector<int> hops_of(const Topology& topology, const Arcs& arcs, std::span<const int> set,
                         bool is_origin) {
  std::vector<int> out(topology.entities.size(), -1);
  std::vector<int> queue(set.begin(), set.end());
  for (const int entity : set) out[as_size(entity)] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto at = as_size(queue[i]);
    if (out[at] > 0 && !topology.entities[at].forwards) continue;
    for (const Arc& arc : is_origin ? arcs.from(queue[i]) : arcs.to(queue[i])) {
      const int next = is_origin ? arc.to : arc.from;
      int& hops = out[as_size(next)];
      if (hops >= 0) continue;
      hops = out[at] + 1;
      queue.push_back(next);
    }
  }
  return out;
}

}  // namespace

Capacity::Capacity(const Topology& topology) : topology_(topology), arcs_(topology) {}

double Capacity::between(std::span<const int> from, std::span<const int> to) const {
  return flow(from, to, std::vector<char>(arcs_.all().size(), 1));
}

double Capacity::routed(std::span<const int> from, std::span<const int> to) const {
  const std::vector<int> since = hops_of(topology_, arcs_, from, true);
  const std::vector<int> until = hops_of(topology_, arcs_, to, false);
  int longest = 0;
  for (const int device : to) longest = std::max(longest, since[as_size(device)]);
  std::vector<char> is_used;
  for (const Arc& arc : arcs_.all()) {
    const int before = since[as_size(arc.from)];
    const int after = until[as_size(arc.to)];
    is_used.push_back(before >= 0 && after >= 0 && before + 1 + after <= longest ? 1 : 0);
  }
  return flow(from, to, is_used);
}

double Capacity::flow(std::span<const int> from, std::span<const int> to,
                      const std::vector<char>& is_used) const {
  const std::size_t n = topology_.entities.size();
  const int source = as_int(n), sink = as_int(n) + 1;
  std::vector<char> takes_part(n);
  for (const auto i : indices(n)) takes_part[i] = topology_.entities[i].forwards ? 1 : 0;
  FlowNetwork network(n + 2);
  for (const int device : from) {
    takes_part[as_size(device)] = 1;
    network.add(source, device, no_limit / 4, 0);
  }
  for (const int device : to) {
    takes_part[as_size(device)] = 1;
    network.add(device, sink, no_limit / 4, 0);
  }
  for (const auto i : indices(arcs_.all())) {
    const Arc& arc = arcs_.all()[i];
    if (!is_used[i] || !takes_part[as_size(arc.from)] || !takes_part[as_size(arc.to)]) {
      continue;
    }
    network.add(arc.from, arc.to, std::llround(topology_.capacity_bytes_per_s(arc.link)), 0);
  }
  return as_double(network.maximum(source, sink));
}

Bisection bisection_of(const Topology& topology) {
  const std::vector<int> devices = topology.devices();
  if (devices.size() < 2) return {.bytes_per_s = 0, .is_minimum = true};
  const Capacity capacity(topology);
  if (devices.size() <= all_halves_max) return least_half(capacity, devices);
  const std::span<const int> all(devices);
  const std::size_t half = devices.size() / 2;
  return {.bytes_per_s = capacity.between(all.first(half), all.subspan(half)), .is_minimum = false};
}

}  // namespace halmark::fabric
