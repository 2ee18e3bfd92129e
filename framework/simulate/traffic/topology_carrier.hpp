// Ranks of a topology that do a collective with each other.
#pragma once

#include <tuple>
#include <vector>

#include "simulate/traffic/topology_links.hpp"

namespace halmark::traffic {

// Devices in the order of their places in the levels, innermost first, as collectives count ranks.
std::vector<int> ranks_of(const fabric::Topology& topology);

class TopologyCarrier : public simulate::Carrier {
 public:
  // `ranks`: entities of the topology. Refers to the links.
  TopologyCarrier(TopologyLinks& links, std::vector<int> ranks)
      : links_(links), ranks_(std::move(ranks)) {}

  simulate::Passage passage(std::int32_t from, std::int32_t to, std::uint32_t flow) override;
  // A topology's file does not say whether its switches add.
  std::optional<simulate::Passage> switch_passage(std::size_t, std::int32_t, bool) override {
    return std::nullopt;
  }
  events::ActorIndex actor(std::int32_t rank) const override {
    return static_cast<events::ActorIndex>(ranks_[static_cast<std::size_t>(rank)]);
  }

 private:
  TopologyLinks& links_;
  std::vector<int> ranks_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint32_t>, simulate::Passage> passages_;
};

}  // namespace halmark::traffic
