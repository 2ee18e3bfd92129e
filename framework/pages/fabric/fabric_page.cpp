#include "pages/fabric/fabric_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric/fabric_json.hpp"

namespace halmark::pages {
namespace {

using fabric::LevelView;
using fabric::Topology;
using report::TextTable;

// "4", or "2 to 16".
std::string range_text(int low, int high) {
  return low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
}

std::string latency_text(const LevelView& level) {
  const std::string near = report::duration_text(level.latency_ns_nearest);
  const std::string far = report::duration_text(level.latency_ns_farthest);
  return near == far ? near : near + " to " + far;
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return count == 1 ? fmt::format("1 {}", one) : fmt::format("{} {}", count, many);
}

std::string counts_text(const Topology& topology) {
  const fabric::EntityCounts counts = fabric::counts_of(topology);
  std::string out = counted(counts.devices, "device", "devices");
  if (!topology.device.empty()) out += " (" + topology.device + ")";
  if (counts.hosts > 0) out += ", " + counted(counts.hosts, "host domain", "host domains");
  if (counts.nics > 0) out += ", " + counted(counts.nics, "adapter", "adapters");
  if (counts.switches > 0) out += ", " + counted(counts.switches, "switch", "switches");
  return out + ", " + counted(topology.links.size(), "link", "links");
}

std::string levels_text(const std::vector<LevelView>& levels) {
  TextTable table({"level", "groups", "ranks", "hops", "latency, one way", "one flow", "per rank",
                   "over-subscription", "narrowest"},
                  {false, true, true, true, true, true, true, true});
  for (const LevelView& level : levels) {
    table.add({level.name, std::to_string(level.groups), std::to_string(level.ranks),
               range_text(level.hops_nearest, level.hops_farthest), latency_text(level),
               report::bandwidth_text(level.bytes_per_s_flow),
               report::bandwidth_text(level.bytes_per_s_rank),
               report::significant_text(level.oversubscription),
               std::string(fabric::transport_name(level.transport))});
  }
  return table.text();
}

std::string links_text(const Topology& topology) {
  TextTable table(
      {"link", "transport", "count", "latency, one way", "bandwidth, one way", "source"},
      {false, false, true, true, true});
  for (const auto i : indices(topology.figures)) {
    const fabric::LinkFigure& figure = topology.figures[i];
    std::size_t count = 0;
    for (const fabric::Link& link : topology.links) {
      if (link.figure == as_int(i)) count += as_size(link.cables);
    }
    table.add({figure.name, std::string(fabric::transport_name(figure.transport)),
               std::to_string(count), report::duration_text(figure.latency_ns),
               report::bandwidth_text(figure.bytes_per_s), figure.source});
  }
  return table.text();
}

std::string tiers_text(const Topology& topology) {
  TextTable table({"memory", "of each", ">size", ">read", ">write", ">latency", "source"});
  for (const fabric::MemoryTier& tier : topology.tiers) {
    table.add({tier.name, tier.scope, report::bytes_text(tier.bytes),
               report::bandwidth_text(tier.read_bytes_per_s),
               report::bandwidth_text(tier.write_bytes_per_s),
               report::duration_text(tier.latency_ns), tier.source});
  }
  return table.text();
}

}  // namespace

report::View fabric_page(const Topology& topology) {
  const std::vector<LevelView> levels = fabric::level_views(topology);
  const fabric::Bisection bisection = fabric::bisection_of(topology);
  std::string text = fmt::format("{}: {}\n{}; profile {}\n", topology.id, topology.name,
                                 counts_text(topology), topology.profile);
  if (!levels.empty()) {
    text +=
        fmt::format("bisection {} one way, {}\n\n", report::bandwidth_text(bisection.bytes_per_s),
                    bisection.is_minimum ? "the least over all halves"
                                         : "from the first half of the ranks to the second");
    if (topology.ecmp != fabric::Ecmp::spray) {
      text +=
          fmt::format("flows choose among ways of equal cost by {}; rates below are without it\n\n",
                      fabric::ecmp_name(topology.ecmp));
    }
    text += levels_text(levels);
  }
  if (!topology.figures.empty()) text += '\n' + links_text(topology);
  if (!topology.tiers.empty()) text += '\n' + tiers_text(topology);
  for (const std::string& note : topology.notes) text += "\nnote: " + note;
  if (!topology.notes.empty()) text += '\n';
  return {.data = fabric::fabric_json(topology, levels, bisection), .text = std::move(text)};
}

report::View fabric_page(const std::string& id, const std::vector<std::filesystem::path>& folders) {
  if (id.empty()) return fabrics_page(fabric::known_fabrics(folders));
  return fabric_page(fabric::known_fabric(id, folders));
}

report::View fabrics_page(std::span<const Topology> topologies) {
  TextTable table({"id", "name", "profile", ">devices", ">switches", ">links", "levels"});
  Json list = Json::array();
  for (const Topology& topology : topologies) {
    const fabric::EntityCounts counts = fabric::counts_of(topology);
    std::string levels;
    Json names = Json::array();
    for (const fabric::Level& level : topology.levels) {
      append_item(levels, ", ", level.name);
      names.push_back(level.name);
    }
    table.add({topology.id, topology.name, topology.profile, std::to_string(counts.devices),
               std::to_string(counts.switches), std::to_string(topology.links.size()), levels});
    list.push_back({{"id", topology.id},
                    {"name", topology.name},
                    {"profile", topology.profile},
                    {"devices", counts.devices},
                    {"switches", counts.switches},
                    {"links", topology.links.size()},
                    {"levels", std::move(names)}});
  }
  return {.data = {{"known", std::move(list)}}, .text = table.text()};
}

}  // namespace halmark::pages
