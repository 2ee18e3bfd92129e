#include "simulate/fabric/fabric_json.hpp"

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"

namespace halmark::fabric {
namespace {

Json optional_index(int index) { return index < 0 ? Json(nullptr) : Json(index); }

Json entities_json(const Topology& topology) {
  return json_list(topology.entities, [](const Entity& entity) -> Json {
    return {{"name", entity.name},
            {"kind", kind_name(entity.kind)},
            {"node", optional_index(entity.node)},
            {"numa", optional_index(entity.numa)},
            {"forwards", entity.forwards}};
  });
}

Json figures_json(const Topology& topology) {
  return json_list(topology.figures, [](const LinkFigure& figure) -> Json {
    return {{"name", figure.name},
            {"transport", transport_name(figure.transport)},
            {"latency_ns", figure.latency_ns},
            {"bytes_per_s", figure.bytes_per_s},
            {"duplex", duplex_name(figure.duplex)},
            {"length_km", figure.length_km},
            {"source", figure.source}};
  });
}

Json links_json(const Topology& topology) {
  const auto name = [&](int i) { return topology.entities[as_size(i)].name; };
  return json_list(topology.links, [&](const Link& link) -> Json {
    return {{"from", name(link.from)},
            {"to", name(link.to)},
            {"figure", topology.figures[as_size(link.figure)].name},
            {"cables", link.cables}};
  });
}

Json tiers_json(const Topology& topology) {
  return json_list(topology.tiers, [](const MemoryTier& tier) -> Json {
    return {{"name", tier.name},
            {"scope", tier.scope},
            {"bytes", tier.bytes},
            {"read_bytes_per_s", tier.read_bytes_per_s},
            {"write_bytes_per_s", tier.write_bytes_per_s},
            {"latency_ns", tier.latency_ns},
            {"source", tier.source}};
  });
}

Json levels_json(const std::vector<LevelView>& levels) {
  return json_list(levels, [](const LevelView& level) -> Json {
    return {{"name", level.name},
            {"groups", level.groups},
            {"ranks", level.ranks},
            {"hops_nearest", level.hops_nearest},
            {"hops_farthest", level.hops_farthest},
            {"latency_ns_nearest", level.latency_ns_nearest},
            {"latency_ns_farthest", level.latency_ns_farthest},
            {"bytes_per_s_flow", level.bytes_per_s_flow},
            {"bytes_per_s_rank", level.bytes_per_s_rank},
            {"oversubscription", level.oversubscription},
            {"transport", transport_name(level.transport)}};
  });
}

}  // namespace

EntityCounts counts_of(const Topology& topology) {
  EntityCounts out;
  for (const Entity& entity : topology.entities) {
    switch (entity.kind) {
      case EntityKind::device:
        ++out.devices;
        break;
      case EntityKind::host:
        ++out.hosts;
        break;
      case EntityKind::nic:
        ++out.nics;
        break;
      case EntityKind::network_switch:
        ++out.switches;
        break;
    }
  }
  return out;
}

Json fabric_json(const Topology& topology, const std::vector<LevelView>& levels,
                 const Bisection& bisection) {
  const EntityCounts counts = counts_of(topology);
  return {
      {"id", topology.id},
      {"name", topology.name},
      {"profile", topology.profile},
      {"device", topology.device.empty() ? Json(nullptr) : Json(topology.device)},
      {"counts",
       {{"devices", counts.devices},
        {"hosts", counts.hosts},
        {"nics", counts.nics},
        {"switches", counts.switches},
        {"links", topology.links.size()}}},
      {"ecmp", ecmp_name(topology.ecmp)},
      {"levels", levels_json(levels)},
      {"bisection", {{"bytes_per_s", bisection.bytes_per_s}, {"is_minimum", bisection.is_minimum}}},
      {"figures", figures_json(topology)},
      {"tiers", tiers_json(topology)},
      {"notes", topology.notes},
      {"entities", entities_json(topology)},
      {"links", links_json(topology)}};
}

}  // namespace halmark::fabric
