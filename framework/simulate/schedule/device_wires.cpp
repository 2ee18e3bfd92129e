#include "simulate/schedule/device_wires.hpp"

#include <numeric>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "simulate/collectives/level_carrier.hpp"
#include "simulate/fabric_levels_of.hpp"
#include "simulate/group_levels.hpp"
#include "simulate/traffic/topology_carrier.hpp"

namespace halmark::schedule {
namespace {

using simulate::Algorithm;
using simulate::Collective;

// Refers to the topology; has its own links.
class TopologyWires final : public SiteCarrier {
 public:
  TopologyWires(const fabric::Topology& topology, std::vector<int> actors, std::uint64_t seed,
                events::TaskGraph& graph)
      : links_(topology, topology.ecmp, seed, graph), carrier_(links_, std::move(actors)) {}
  simulate::Passage passage(std::int32_t from, std::int32_t to, std::uint32_t flow) override {
    return carrier_.passage(from, to, flow);
  }
  std::optional<simulate::Passage> switch_passage(std::size_t, std::int32_t, bool) override {
    return std::nullopt;
  }
  events::ActorIndex actor(std::int32_t rank) const override { return carrier_.actor(rank); }
  std::string name_of(events::LinkIndex link) const override { return links_.name_of(link); }

 private:
  traffic::TopologyLinks links_;
  traffic::TopologyCarrier carrier_;
};

// Of levels alone: as many adapters as a rank has levels, each with a number.
class LevelWires final : public SiteCarrier {
 public:
  LevelWires(const simulate::FabricLevels& levels, events::TaskGraph& graph)
      : carrier_(Collective::send_recv, {.algorithm = Algorithm::one_shot}, levels, graph) {}
  simulate::Passage passage(std::int32_t from, std::int32_t to, std::uint32_t flow) override {
    return carrier_.passage(from, to, flow);
  }
  std::optional<simulate::Passage> switch_passage(std::size_t, std::int32_t, bool) override {
    return std::nullopt;
  }
  events::ActorIndex actor(std::int32_t rank) const override { return carrier_.actor(rank); }
  std::string name_of(events::LinkIndex link) const override {
    return "adapter " + std::to_string(events::at(link));
  }

 private:
  simulate::LevelCarrier carrier_;
};

}  // namespace

Site::Site(const fabric::Topology& given)
    : topology(&given), levels(simulate::fabric_levels_of(given)) {}

std::vector<int> actors_of(const Site& site, std::int64_t devices) {
  const std::int64_t has =
      site.topology != nullptr ? as_int64(site.topology->devices().size()) : site.levels.ranks();
  if (devices > has) {
    throw refused("the fabric has " + std::to_string(has) + " devices, and " +
                      std::to_string(devices) + " are wanted",
                  site.topology != nullptr ? site.topology->id : std::string());
  }
  std::vector<int> out;
  if (site.topology != nullptr) {
    out = traffic::ranks_of(*site.topology);
    out.resize(as_size(devices));
  } else {
    out.resize(as_size(devices));
    std::iota(out.begin(), out.end(), 0);
  }
  return out;
}

std::vector<std::string> actor_names(const Site& site, std::int64_t devices) {
  std::vector<std::string> out;
  if (site.topology != nullptr) {
    for (const fabric::Entity& entity : site.topology->entities) out.push_back(entity.name);
  } else {
    for (const std::int64_t i : below(devices)) out.push_back("rank " + std::to_string(i));
  }
  return out;
}

std::unique_ptr<SiteCarrier> carrier_of(const Site& site, const std::vector<int>& actors,
                                        std::uint64_t seed, events::TaskGraph& graph) {
  if (site.topology == nullptr) return std::make_unique<LevelWires>(site.levels, graph);
  return std::make_unique<TopologyWires>(*site.topology, actors, seed, graph);
}

simulate::LoweredWay way_of(const Site& site, Collective collective, double bytes,
                            std::int64_t ranks, std::int64_t stride) {
  const auto group = simulate::group_levels(site.levels, ranks, stride);
  if (!group) throw refused("the fabric ends before the last rank of a collective");
  auto shape = mapped(group->fabric.levels, &simulate::FabricLevel::ranks);
  for (const simulate::CollectiveTime& time :
       simulate::collective_times(collective, bytes, group->fabric)) {
    if (time.algorithm == Algorithm::in_switch) continue;
    simulate::LoweredWay way{
        .collective = collective, .algorithm = time.algorithm, .bytes = bytes, .shape = shape};
    const bool has_channels =
        time.algorithm == Algorithm::ring || time.algorithm == Algorithm::tree;
    if (has_channels && shape.size() > 1 && collective != Collective::all_to_all) {
      way.channels = as_int(shape.front());
    }
    if (simulate::events_of(way) > 0) return way;
  }
  throw refused(std::string(simulate::collective_name(collective)) +
                " over these ranks cannot be written as messages");
}

}  // namespace halmark::schedule
