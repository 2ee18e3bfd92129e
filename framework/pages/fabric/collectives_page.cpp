#include "pages/fabric/collectives_page.hpp"

#include <fmt/format.h>

#include <array>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "pages/fabric/collective_columns.hpp"
#include "report/text/table.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric_levels_of.hpp"

namespace halmark::pages {
namespace {

using simulate::ChosenCollective;
using simulate::Collective;
using simulate::CollectiveTime;
using simulate::FabricLevels;

Json way_json(const CollectiveTime& time) {
  return {{"algorithm", algorithm_name(time.algorithm)},
          {"protocol", time.protocol},
          {"latency_s", time.latency_s},
          {"transfer_s", time.transfer_s},
          {"seconds", time.seconds()}};
}

Json levels_json(const FabricLevels& fabric) {
  return json_list(fabric.levels, [](const simulate::FabricLevel& level) -> Json {
    return {{"ranks", level.ranks},
            {"latency_s", level.latency_s},
            {"bytes_per_s", level.bytes_per_s},
            {"in_switch_ranks_min", level.in_switch_ranks_min},
            {"shares_adapter", level.shares_adapter},
            {"hops", level.hops},
            {"neighbour_latency_s",
             level.neighbour_latency_s > 0 ? level.neighbour_latency_s : level.latency_s}};
  });
}

std::string levels_text(const FabricLevels& fabric) {
  std::string out = fmt::format("{} ranks:", fabric.ranks());
  const char* separator = " ";
  for (const simulate::FabricLevel& level : fabric.levels) {
    out += fmt::format("{}{} at {:.4g} GB/s and {:.3g} us", separator, level.ranks,
                       level.bytes_per_s / 1e9, level.latency_s * 1e6);
    separator = ", then ";
  }
  return out;
}

struct Line {
  Json data;
  std::vector<std::string> cells;
};

Line line_of(const FabricLevels& fabric, Collective collective, double bytes,
             const CollectiveColumns& columns) {
  const ChosenCollective best = best_collective(collective, bytes, fabric);
  const double seconds = best.seconds();
  const double moved = bytes * bus_factor(collective, as_double(fabric.ranks()));
  const double bus = seconds > 0 ? moved / seconds : 0;
  Json data = {{"collective", collective_name(collective)},
               {"bytes", bytes},
               {"seconds", seconds},
               {"bus_bytes_per_s", bus},
               {"bound_s", best.bound_s},
               {"algorithm", nullptr},
               {"protocol", nullptr},
               {"latency_s", nullptr},
               {"transfer_s", nullptr},
               {"reason", best.reason},
               {"others", Json::array()}};
  std::string way = "-";
  if (best.time) {
    data.update(way_json(*best.time));
    way = algorithm_name(best.time->algorithm);
    if (!best.time->protocol.empty()) way += ", " + best.time->protocol;
    for (const CollectiveTime& t : collective_times(collective, bytes, fabric)) {
      data["others"].push_back(way_json(t));
    }
    data["others"].erase(0);
  }
  std::vector<std::string> cells = {std::string(collective_name(collective)),
                                    fmt::format("{:.0f}", bytes),
                                    fmt::format("{:.4g}", seconds * 1e6)};
  const std::vector<std::string> beside = columns.cells(collective, bytes, best, data);
  append_all(cells, beside);
  cells.push_back(fmt::format("{:.4g}", bus / 1e9));
  cells.push_back(seconds > 0 ? fmt::format("{:.0f} %", 100 * best.bound_s / seconds) : "-");
  cells.push_back(way);
  cells.push_back(best.reason);
  return {std::move(data), std::move(cells)};
}

report::TextTable table_of(const CollectiveColumns& columns) {
  std::vector<std::string> titles = {"collective", "bytes", "us"};
  std::vector<bool> is_number = {false, true, true};
  for (const std::string& title : columns.titles()) {
    titles.push_back(title);
    is_number.push_back(true);
  }
  for (const char* title : {"busbw GB/s", "bound/time", "by", "why"}) titles.push_back(title);
  is_number.insert(is_number.end(), {true, true});
  return report::TextTable(titles, is_number);
}

report::View page_of(const FabricLevels& fabric, std::span<const Collective> collectives,
                     std::span<const double> sizes, const CollectiveColumns& columns) {
  check(fabric);
  Json list = Json::array();
  report::TextTable table = table_of(columns);
  for (const Collective collective : collectives) {
    for (const double bytes : sizes) {
      Line line = line_of(fabric, collective, bytes, columns);
      list.push_back(std::move(line.data));
      table.add(line.cells);
    }
  }
  return {.data = {{"ranks", fabric.ranks()},
                   {"levels", levels_json(fabric)},
                   {"levels_overlap", fabric.levels_overlap},
                   {"collectives", std::move(list)}},
          .text = fmt::format("{}\n\n{}", levels_text(fabric), table.text())};
}

}  // namespace

report::View collectives_page(const FabricLevels& fabric, std::span<const Collective> collectives,
                              std::span<const double> sizes) {
  return page_of(fabric, collectives, sizes, {});
}

report::View collectives_page(const fabric::Topology& topology, const CollectivesRequest& asked) {
  constexpr double kib = 1024;
  constexpr std::array sizes{kib,
                             16 * kib,
                             256 * kib,
                             4 * kib * kib,
                             64 * kib * kib,
                             kib * kib * kib,
                             4 * kib * kib * kib};
  const FabricLevels levels =
      traffic::levels_of_group(simulate::fabric_levels_of(topology), asked.groups);
  const CollectiveColumns columns(topology, levels, asked.simulates, asked.groups);
  report::View out = page_of(levels, simulate::all_collectives(), sizes, columns);
  out.data["fabric"] = topology.id;
  out.data.update(columns.json());
  out.text =
      topology.id + ": " + topology.name + '\n' + out.text +
      "\nus: links and their latencies alone; what a library needs for each step is not in it, "
      "and small sizes take longer\n" +
      columns.note();
  return out;
}

report::View collectives_page(const CollectivesRequest& asked,
                              const std::vector<std::filesystem::path>& folders) {
  return collectives_page(fabric::known_fabric(asked.fabric, folders), asked);
}

}  // namespace halmark::pages
