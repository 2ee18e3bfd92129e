#include "simulate/fabric/routes.hpp"

#include <algorithm>
#include <limits>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"

namespace halmark::fabric {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

// Bits of a value that stand for it alike everywhere.
std::uint64_t mixed(std::uint64_t value) { return hash_u64(value, 0); }

}  // namespace

Router::Router(const Topology& topology) : topology_(topology), arcs_(topology) {}

RouteTree Router::to(int destination) const {
  const std::size_t n = topology_.entities.size();
  RouteTree out{.to = destination,
                .hops = std::vector<int>(n, -1),
                .paths = std::vector<double>(n, 0),
                .latency_ns = std::vector<double>(n, no_limit),
                .bytes_per_s = std::vector<double>(n, 0)};
  const auto end = as_size(destination);
  out.hops[end] = 0;
  out.paths[end] = 1;
  out.latency_ns[end] = 0;
  out.bytes_per_s[end] = no_limit;
  std::vector<int> queue = {destination};  // in the order of their hops
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto at = as_size(queue[i]);
    if (queue[i] != destination && !topology_.entities[at].forwards) continue;
    for (const Arc& arc : arcs_.to(queue[i])) {
      const auto before = as_size(arc.from);
      if (out.hops[before] < 0) {
        out.hops[before] = out.hops[at] + 1;
        queue.push_back(arc.from);
      }
      if (out.hops[before] != out.hops[at] + 1) continue;
      const LinkFigure& figure = topology_.figure_of(arc.link);
      out.paths[before] += out.paths[at];
      out.latency_ns[before] =
          std::min(out.latency_ns[before], out.latency_ns[at] + figure.latency_ns);
      out.bytes_per_s[before] =
          std::max(out.bytes_per_s[before], std::min(out.bytes_per_s[at], figure.bytes_per_s));
    }
  }
  return out;
}

std::vector<Arc> Router::next(const RouteTree& tree, int at) const {
  std::vector<Arc> out;
  const int hops = tree.hops[as_size(at)];
  for (const Arc& arc : arcs_.from(at)) {
    const auto after = as_size(arc.to);
    const bool may_pass = arc.to == tree.to || topology_.entities[after].forwards;
    if (may_pass && hops > 0 && tree.hops[after] == hops - 1) out.push_back(arc);
  }
  return out;
}

Route Router::route(const RouteTree& tree, int from, std::uint64_t flow) const {
  Route out;
  if (tree.hops[as_size(from)] < 0) return out;
  out.entities = {from};
  out.bytes_per_s = no_limit;
  for (int at = from; at != tree.to;) {
    const std::vector<Arc> choices = next(tree, at);
    const Arc& arc = choices[mixed(flow ^ mixed(as_uint64(at))) % choices.size()];
    const LinkFigure& figure = topology_.figure_of(arc.link);
    out.links.push_back(arc.link);
    out.entities.push_back(arc.to);
    out.latency_ns += figure.latency_ns;
    out.bytes_per_s = std::min(out.bytes_per_s, figure.bytes_per_s);
    at = arc.to;
  }
  return out;
}

}  // namespace halmark::fabric
