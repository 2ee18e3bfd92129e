// What joins the devices of a schedule: who they are, and how messages travel between them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulate/collectives/fabric_levels.hpp"
#include "simulate/collectives/lowering.hpp"
#include "simulate/fabric/topology.hpp"

namespace halmark::schedule {

// The devices that a schedule runs on: those of a topology nearest first, or ranks of bare levels.
struct Site {
  const fabric::Topology* topology = nullptr;  // null: levels alone
  simulate::FabricLevels levels;

  explicit Site(const fabric::Topology& topology);
  explicit Site(simulate::FabricLevels levels) : levels(std::move(levels)) {}
};

// Entities of the topology, or ranks, of the first `devices`. Throws Error (exit 2) where the
// site has fewer.
std::vector<int> actors_of(const Site& site, std::int64_t devices);
// By actor: every entity of the topology, or "rank 3".
std::vector<std::string> actor_names(const Site& site, std::int64_t devices);

// Carries messages between devices over the links of the site, which it adds to the graph.
class SiteCarrier : public simulate::Carrier {
 public:
  virtual std::string name_of(events::LinkIndex link) const = 0;
};
std::unique_ptr<SiteCarrier> carrier_of(const Site& site, const std::vector<int>& actors,
                                        std::uint64_t seed, events::TaskGraph& graph);

// Some of the devices, as the ranks of one collective.
class GroupCarrier final : public simulate::Carrier {
 public:
  GroupCarrier(simulate::Carrier& all, std::span<const std::int64_t> devices)
      : all_(all), devices_(devices) {}
  simulate::Passage passage(std::int32_t from, std::int32_t to, std::uint32_t flow) override {
    return all_.passage(device(from), device(to), flow);
  }
  std::optional<simulate::Passage> switch_passage(std::size_t, std::int32_t, bool) override {
    return std::nullopt;
  }
  events::ActorIndex actor(std::int32_t rank) const override { return all_.actor(device(rank)); }

 private:
  std::int32_t device(std::int32_t rank) const {
    return static_cast<std::int32_t>(devices_[static_cast<std::size_t>(rank)]);
  }
  simulate::Carrier& all_;
  std::span<const std::int64_t> devices_;
};

// The fastest algorithm of a collective that messages can be written of, over the levels that a
// group meets. `ranks` are `stride` devices apart. Throws Error (exit 2) where none does.
simulate::LoweredWay way_of(const Site& site, simulate::Collective collective, double bytes,
                            std::int64_t ranks, std::int64_t stride);

}  // namespace halmark::schedule
