#include "pages/fabric/collective_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/text/quantity.hpp"
#include "simulate/fabric/routes.hpp"

namespace halmark::pages {
namespace {

using simulate::ChosenCollective;
using simulate::Collective;
using simulate::FabricLevels;

std::string us_text(double seconds) { return fmt::format("{:.4g}", seconds * 1e6); }

// The wire of a fabric whose ranks all meet at one level inside a node.
std::optional<simulate::Wire> wire_of(const fabric::Topology& topology,
                                      const FabricLevels& levels) {
  const auto joining = std::ranges::count_if(
      levels.levels, [](const simulate::FabricLevel& level) { return level.ranks > 1; });
  if (joining != 1) return std::nullopt;
  const std::vector<int> devices = topology.devices();
  const fabric::Router router(topology);
  const fabric::Route route = router.route(router.to(devices.back()), devices.front());
  for (const int link : route.links) {
    switch (topology.figure_of(link).transport) {
      case fabric::Transport::nvlink:
        return simulate::Wire::nvlink;
      case fabric::Transport::pcie:
        break;
      default:
        return std::nullopt;
    }
  }
  return simulate::Wire::pcie;
}

}  // namespace

CollectiveColumns::CollectiveColumns(const fabric::Topology& topology, const FabricLevels& of_group,
                                     bool simulates, std::int64_t groups)
    : topology_(&topology),
      of_group_(of_group),
      simulates_(simulates || groups > 1),
      contention_{.groups = groups, .policy = topology.ecmp},
      wire_(wire_of(topology, of_group)) {}

std::vector<std::string> CollectiveColumns::titles() const {
  std::vector<std::string> out;
  if (wire_) out.insert(out.end(), {"as measured systems behave, us", "90 % within, us"});
  if (simulates_) out.push_back("by events, us");
  if (contention_.groups > 1) {
    out.insert(out.end(), {fmt::format("{} groups at once, us", contention_.groups), "slower by"});
  }
  return out;
}

std::vector<std::string> CollectiveColumns::cells(Collective collective, double bytes,
                                                  const ChosenCollective& best, Json& data) const {
  std::vector<std::string> out;
  if (wire_) add_measured(collective, bytes, data, out);
  if (simulates_) add_events(collective, bytes, best, data, out);
  return out;
}

void CollectiveColumns::add_measured(Collective collective, double bytes, Json& data,
                                     std::vector<std::string>& cells) const {
  double rate = 0;
  for (const simulate::FabricLevel& level : of_group_.levels) {
    if (level.ranks > 1) rate = level.bytes_per_s;
  }
  const auto fit = fit_of_known_systems(collective, *wire_, {.bytes_per_s = rate});
  data["as_measured"] = nullptr;
  if (!fit) {
    cells.insert(cells.end(), {report::absent_text, report::absent_text});
    return;
  }
  const double seconds = fit->seconds(bytes, of_group_.ranks());
  const Interval interval = fit->interval_s(bytes, of_group_.ranks());
  data["as_measured"] = {{"seconds", seconds}, {"low_s", interval.low}, {"high_s", interval.high}};
  cells.push_back(us_text(seconds));
  cells.push_back(us_text(interval.low) + " to " + us_text(interval.high));
}

void CollectiveColumns::add_events(Collective collective, double bytes,
                                   const ChosenCollective& best, Json& data,
                                   std::vector<std::string>& cells) const {
  data["by_events"] = nullptr;
  traffic::GroupTimes times;
  if (best.time) {
    times =
        group_times(*topology_, of_group_, collective, best.time->algorithm, bytes, contention_);
  }
  if (best.time && !times.is_simulated) {
    cells.push_back(fmt::format("- ({:.3g} events)", times.events));
    if (contention_.groups > 1)
      cells.insert(cells.end(), {report::absent_text, report::absent_text});
    return;
  }
  data["by_events"] = {{"seconds", times.alone_s},
                       {"latency_s", times.latency_s},
                       {"events", times.events},
                       {"slowest_group_s", times.slowest_s},
                       {"fastest_group_s", times.fastest_s}};
  cells.push_back(us_text(times.alone_s));
  if (contention_.groups < 2) return;
  cells.push_back(us_text(times.slowest_s));
  cells.push_back(times.alone_s > 0 ? fmt::format("{:.3g}x", times.slowest_s / times.alone_s)
                                    : report::absent_text);
}

std::string CollectiveColumns::note() const {
  std::string out;
  if (wire_) {
    out +=
        "as measured systems behave: the mean of curves through NCCL tables of systems with such "
        "links, by their rate\n";
  }
  if (!simulates_) return out;
  out += fmt::format(
      "by events: message by message over the links of the topology, ways of equal cost by {}; "
      "more "
      "than {:g} events are not simulated\n",
      fabric::ecmp_name(contention_.policy), contention_.events_max);
  if (contention_.groups > 1) {
    out += fmt::format("{} groups: every {}th rank is of one; the slowest of them\n",
                       contention_.groups, contention_.groups);
  }
  return out;
}

Json CollectiveColumns::json() const {
  return {{"groups", contention_.groups},
          {"ecmp", fabric::ecmp_name(contention_.policy)},
          {"seed", contention_.seed},
          {"is_simulated", simulates_},
          {"events_max", contention_.events_max}};
}

}  // namespace halmark::pages
