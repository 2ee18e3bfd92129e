#include "pages/serve/document/fabric_drawing.hpp"

#include <algorithm>
#include <map>

#include "core/json/json.hpp"
#include "core/lists.hpp"

namespace halmark::pages {
namespace {

using fabric::Topology;

// Nodes in their order up to the limit, switches always: those of nodes that are left out hang in
// the air, so they go with them. By entity: its place in the drawing, or -1.
std::vector<int> drawn_places(const Topology& topology) {
  const auto is_of_node = [](const fabric::Entity& e) { return e.node >= 0; };
  std::size_t room = drawn_entities_max;
  for (const fabric::Entity& e : topology.entities) {
    if (!is_of_node(e) && room > 0) --room;
  }
  std::map<int, std::size_t> of_node;
  for (const fabric::Entity& e : topology.entities) {
    if (is_of_node(e)) ++of_node[e.node];
  }
  int last_node = -1;
  std::size_t used = 0;
  for (const auto& [node, count] : of_node) {
    if (last_node >= 0 && used + count > room) break;
    used += count;
    last_node = node;
  }
  std::vector<int> out;
  int next = 0;
  for (const fabric::Entity& e : topology.entities) {
    const bool is_drawn = is_of_node(e) ? e.node <= last_node : next < as_int(drawn_entities_max);
    out.push_back(is_drawn ? next++ : -1);
  }
  return out;
}

Json figures_of(const Topology& topology) {
  return json_list(topology.figures, [](const fabric::LinkFigure& f) -> Json {
    return {{"name", f.name},
            {"transport", fabric::transport_name(f.transport)},
            {"latency_ns", f.latency_ns},
            {"bytes_per_s", f.bytes_per_s},
            {"source", f.source}};
  });
}

// The entities that a resource of a timeline joins: "a -> b", "a - b", "a -> b #1". Nothing for
// names that are no link of the topology.
std::optional<std::pair<int, int>> ends_of(const std::string& link,
                                           const std::map<std::string, int>& entities) {
  for (const std::string_view between : {" -> ", " - "}) {
    const std::size_t at = link.find(between);
    if (at == std::string::npos) continue;
    std::string to = link.substr(at + between.size());
    to = to.substr(0, to.find(" #"));
    const auto *from = find_value(entities, link.substr(0, at)), *end = find_value(entities, to);
    if (!from || !end) return std::nullopt;
    return std::pair{*from, *end};
  }
  return std::nullopt;
}

}  // namespace

Json fabric_drawing(const Topology& topology) {
  const std::vector<int> places = drawn_places(topology);
  Json nodes = Json::array(), links = Json::array();
  for (const auto i : indices(places)) {
    const fabric::Entity& e = topology.entities[i];
    if (places[i] >= 0) nodes.push_back({e.name, std::string(kind_name(e.kind)), e.node});
  }
  for (const fabric::Link& link : topology.links) {
    const int from = places[as_size(link.from)];
    const int to = places[as_size(link.to)];
    if (from >= 0 && to >= 0) links.push_back({from, to, link.figure, link.cables});
  }
  Json notes = json_list(topology.notes);
  const std::size_t left_out = topology.entities.size() - nodes.size();
  return {{"id", topology.id},           {"name", topology.name},
          {"profile", topology.profile}, {"nodes", std::move(nodes)},
          {"links", std::move(links)},   {"figures", figures_of(topology)},
          {"left_out", left_out},        {"notes", std::move(notes)}};
}

Json link_load_json(const Topology* topology, const schedule::StepSimulation& step) {
  if (topology == nullptr || !step.has_links) return nullptr;
  std::map<std::string, int> entities;
  for (std::size_t i = 0; i < topology->entities.size(); ++i) {
    entities.emplace(topology->entities[i].name, as_int(i));
  }
  struct Load {
    double utilisation = 0, bytes = 0;
  };
  // Of both directions and of all cables the fuller one.
  std::map<std::pair<int, int>, Load> loads;
  Load busiest;
  const double seconds = step.step_ns() * 1e-9;
  for (const simulate::TimelineResource& link : step.timeline.resources) {
    if (!link.is_link || link.bytes <= 0) continue;
    const auto ends = ends_of(link.name, entities);
    if (!ends) continue;
    const Load load = {link.bytes / link.bytes_per_s / seconds, link.bytes};
    Load& known = loads[std::minmax(ends->first, ends->second)];
    if (load.utilisation > known.utilisation) known = load;
    if (load.utilisation > busiest.utilisation) busiest = load;
  }
  const std::vector<int> places = drawn_places(*topology);
  Json links = Json::array();
  for (const fabric::Link& link : topology->links) {
    const auto* load = find_value(loads, std::minmax(link.from, link.to));
    const int from = places[as_size(link.from)];
    const int to = places[as_size(link.to)];
    if (!load || from < 0 || to < 0) continue;
    links.push_back({from, to, load->utilisation, load->bytes});
  }
  return {{"links", std::move(links)},
          {"busiest", busiest.utilisation},
          {"assumed",
           "simulated: bytes of one step over the link's rate and the time of the step; of "
           "collectives the least that any algorithm sends over a level"}};
}

}  // namespace halmark::pages
