#include "simulate/fabric/topology.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/enum_names.hpp"

namespace halmark::fabric {
namespace {

std::vector<Arc> arcs_of(const Topology& topology) {
  std::vector<Arc> out;
  out.reserve(topology.links.size() * 2);
  for (const auto i : indices(topology.links)) {
    const Link& link = topology.links[i];
    const int index = as_int(i);
    out.push_back({link.from, link.to, index});
    if (topology.figure_of(index).duplex != Duplex::one_way) {
      out.push_back({link.to, link.from, index});
    }
  }
  return out;
}

// Where the arcs of each entity begin, in arcs that are sorted by `end`.
std::vector<std::size_t> begins(const std::vector<Arc>& arcs, int Arc::*end, std::size_t entities) {
  std::vector<std::size_t> out(entities + 1, 0);
  for (const Arc& arc : arcs) ++out[as_size(arc.*end) + 1];
  for (std::size_t i = 1; i < out.size(); ++i) out[i] += out[i - 1];
  return out;
}

constexpr auto ecmps = enum_names<Ecmp>("hash", "least_loaded", "spray");

}  // namespace

std::string_view ecmp_name(Ecmp policy) { return ecmps.of(policy); }

std::optional<Ecmp> parse_ecmp(std::string_view text) { return ecmps.parse(text); }

std::vector<std::string> ecmp_names() { return {ecmps.all.begin(), ecmps.all.end()}; }

std::string_view kind_name(EntityKind kind) {
  switch (kind) {
    case EntityKind::device:
      return "device";
    case EntityKind::host:
      return "host";
    case EntityKind::nic:
      return "nic";
    case EntityKind::network_switch:
      return "switch";
  }
  return "";
}

std::string_view duplex_name(Duplex duplex) {
  switch (duplex) {
    case Duplex::full:
      return "full";
    case Duplex::half:
      return "half";
    case Duplex::one_way:
      return "one_way";
  }
  return "";
}

std::vector<int> Topology::devices() const {
  std::vector<int> out;
  for (const auto i : indices(entities)) {
    if (entities[i].kind == EntityKind::device) out.push_back(as_int(i));
  }
  return out;
}

const LinkFigure& Topology::figure_of(int link) const {
  return figures[as_size(links[as_size(link)].figure)];
}

double Topology::capacity_bytes_per_s(int link) const {
  return figure_of(link).bytes_per_s * links[as_size(link)].cables;
}

Arcs::Arcs(const Topology& topology) : out_(arcs_of(topology)), in_(out_) {
  std::ranges::stable_sort(out_, {}, &Arc::from);
  std::ranges::stable_sort(in_, {}, &Arc::to);
  out_begin_ = begins(out_, &Arc::from, topology.entities.size());
  in_begin_ = begins(in_, &Arc::to, topology.entities.size());
}

}  // namespace halmark::fabric
