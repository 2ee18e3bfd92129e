#include "tune/sources/library_time.hpp"

#include <algorithm>
#include <vector>

#include "core/lists.hpp"

namespace halmark::tune {
namespace {

using fabric::Transport;
using simulate::Algorithm;
using simulate::Collective;
using simulate::CollectiveTime;
using simulate::FabricLevels;
using simulate::Protocol;
using simulate::Wire;

// Of the other wires no library's starts and steps are published.
bool is_of_nccl(Transport transport) {
  return transport == Transport::nvlink || transport == Transport::pcie ||
         fabric::is_network(transport);
}

// Exchanges are direct; what adds or gathers goes around, or up and down a tree.
bool has(Collective collective, Algorithm algorithm) {
  const bool is_direct =
      collective == Collective::all_to_all || collective == Collective::send_recv;
  if (is_direct) return algorithm == Algorithm::one_shot;
  return algorithm == Algorithm::ring || algorithm == Algorithm::tree;
}

const Protocol* find(const std::vector<Protocol>& protocols, const std::string& name) {
  return find_or_null(protocols, name, &Protocol::name);
}

// With the latency of each step in this protocol.
FabricLevels stepping(FabricLevels levels, std::span<const Transport> transports,
                      const std::string& protocol, double Protocol::*hop) {
  for (const auto i : indices(levels.levels)) {
    const std::vector<Protocol> of = simulate::nccl_protocols(wire_of(transports[i]));
    const Protocol* const known = find(of, protocol);
    double& latency = levels.levels[i].latency_s;
    if (known != nullptr) latency = std::max(latency, known->*hop);
  }
  return levels;
}

std::vector<CollectiveTime> library_times(Collective collective, double bytes,
                                          const FabricLevels& levels,
                                          std::span<const Transport> transports) {
  std::vector<CollectiveTime> out;
  for (Protocol protocol : simulate::nccl_protocols(wire_of(transports.front()))) {
    const std::string name = protocol.name;
    for (const bool is_tree : {false, true}) {
      FabricLevels fabric =
          stepping(levels, transports, name, is_tree ? &Protocol::tree_hop_s : &Protocol::hop_s);
      protocol.hop_s = protocol.tree_hop_s = 0;
      fabric.protocols = {protocol};
      for (CollectiveTime& time : simulate::collective_times(collective, bytes, fabric)) {
        if (!has(collective, time.algorithm) || (time.algorithm == Algorithm::tree) != is_tree) {
          continue;
        }
        out.push_back(std::move(time));
      }
    }
  }
  return out;
}

}  // namespace

Wire wire_of(Transport transport) {
  if (transport == Transport::nvlink) return Wire::nvlink;
  if (transport == Transport::pcie) return Wire::pcie;
  return Wire::network;
}

LibraryTime library_time(Collective collective, double bytes, const FabricLevels& levels,
                         std::span<const Transport> transports) {
  const std::vector<CollectiveTime> times =
      std::ranges::any_of(transports, is_of_nccl)
          ? library_times(collective, bytes, levels, transports)
          : simulate::collective_times(collective, bytes, levels);
  const CollectiveTime& best = *std::ranges::min_element(times, {}, &CollectiveTime::seconds);
  const Interval spread =
      std::ranges::any_of(transports, fabric::is_network) ? network_spread : node_spread;
  std::string way(simulate::algorithm_name(best.algorithm));
  if (!best.protocol.empty()) way += ' ' + best.protocol;
  const double s = best.seconds();
  return {.s = s, .interval_s = {s * spread.low, s * spread.high}, .way = way + ", closed form"};
}

}  // namespace halmark::tune
