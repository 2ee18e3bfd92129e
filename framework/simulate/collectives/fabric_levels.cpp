#include "simulate/collectives/fabric_levels.hpp"

#include <cmath>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::simulate {
namespace {

void require(bool holds, std::size_t level, const char* what, double found) {
  if (holds) return;
  throw refused(std::string(what) + ", found " + number_text(found),
                "fabric level " + std::to_string(level));
}

// Latency of one step by protocol, in seconds: LL, LL128, Simple.
struct Hops {
  double ring[3];
  double tree[3];
};

Hops hops_of(Wire wire) {
  switch (wire) {
    case Wire::nvlink:
      return {{0.47e-6, 1.9e-6, 3.4e-6}, {0.52e-6, 1.2e-6, 28e-6}};
    case Wire::pcie:
      return {{1.0e-6, 2.5e-6, 5.7e-6}, {1.0e-6, 2.5e-6, 28e-6}};
    case Wire::network:
      break;
  }
  return {{2.7e-6, 4.0e-6, 9.6e-6}, {5.0e-6, 8.5e-6, 50e-6}};
}

}  // namespace

std::int64_t FabricLevels::ranks() const {
  std::int64_t product = 1;
  for (const FabricLevel& level : levels) product *= level.ranks;
  return product;
}

void check(const FabricLevels& fabric) {
  for (const auto i : indices(fabric.levels)) {
    const FabricLevel& level = fabric.levels[i];
    require(level.ranks >= 1, i, "a level needs at least one rank", as_double(level.ranks));
    require(std::isfinite(level.latency_s) && level.latency_s >= 0, i,
            "latency_s must be a number from 0 on", level.latency_s);
    require(std::isfinite(level.bytes_per_s) && level.bytes_per_s > 0, i,
            "bytes_per_s must be a number above 0", level.bytes_per_s);
    require(std::isfinite(level.hops) && level.hops >= 1, i, "hops must be a number from 1 on",
            level.hops);
    require(std::isfinite(level.neighbour_latency_s) && level.neighbour_latency_s >= 0, i,
            "neighbour_latency_s must be a number from 0 on", level.neighbour_latency_s);
  }
  for (const Protocol& p : fabric.protocols) {
    if (p.bandwidth_share > 0 && p.bandwidth_share <= 1) continue;
    throw refused(
        "bandwidth_share must be above 0 and at most 1, found " + number_text(p.bandwidth_share),
        "protocol " + p.name);
  }
}

std::vector<Protocol> nccl_protocols(Wire wire) {
  const Hops hops = hops_of(wire);
  const char* names[3] = {"LL", "LL128", "Simple"};
  const double shares[3] = {0.25, 0.92, 1}, ring_base[3] = {3.6e-6, 10.0e-6, 8.4e-6},
               tree_base[3] = {4.4e-6, 10.0e-6, 8.4e-6};
  std::vector<Protocol> out;
  for (const int i : below(3)) {
    if (wire == Wire::pcie && i == 1) continue;  // needs stores of 128 bytes in one piece
    out.push_back({.name = names[i],
                   .bandwidth_share = shares[i],
                   .base_s = ring_base[i],
                   .hop_s = hops.ring[i],
                   .tree_base_s = tree_base[i],
                   .tree_hop_s = hops.tree[i]});
  }
  return out;
}

}  // namespace halmark::simulate
