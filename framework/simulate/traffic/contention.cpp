#include "simulate/traffic/contention.hpp"

#include <algorithm>
#include <numeric>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "simulate/events/critical_path.hpp"
#include "simulate/traffic/topology_carrier.hpp"

namespace halmark::traffic {
namespace {

using events::EventList;
using events::TaskIndex;
using simulate::Algorithm;
using simulate::FabricLevel;
using simulate::FabricLevels;
using simulate::LoweredWay;

LoweredWay way_of(simulate::Collective collective, Algorithm algorithm, double bytes,
                  const FabricLevels& of_group) {
  LoweredWay way{.collective = collective, .algorithm = algorithm, .bytes = bytes};
  std::vector<std::int64_t> joined;
  for (const FabricLevel& level : of_group.levels) {
    way.shape.push_back(level.ranks);
    if (level.ranks > 1) joined.push_back(level.ranks);
  }
  // What crosses a level by the adapters of all ranks of a node needs a ring for each of them.
  const bool has_channels = algorithm == Algorithm::ring || algorithm == Algorithm::tree;
  const bool is_whole = collective != simulate::Collective::all_to_all;
  if (has_channels && is_whole && joined.size() > 1)
    way.channels = static_cast<int>(joined.front());
  return way;
}

double end_s(const EventList& events, std::size_t begin, std::size_t end) {
  events::Picoseconds last = 0;
  for (std::size_t i = begin; i < end; ++i) last = std::max(last, events.end_ps[i]);
  return events::seconds_of(last);
}

double latency_s(const events::TaskGraph& graph, const EventList& events) {
  events::Picoseconds out = 0;
  for (const TaskIndex task : critical_path(events)) {
    if (graph.place(task).kind() != events::Place::Kind::nowhere) continue;
    out += events.end_ps[events::at(task)] - events.start_ps[events::at(task)];
  }
  return events::seconds_of(out);
}

}  // namespace

FabricLevels levels_of_group(const FabricLevels& fabric, std::int64_t groups) {
  FabricLevels out = fabric;
  std::int64_t left = groups;
  for (FabricLevel& level : out.levels) {
    const std::int64_t here = std::gcd(left, level.ranks);
    // Groups lie side by side from the innermost level on.
    if (here != std::min(left, level.ranks)) break;
    level.ranks /= here;
    left /= here;
  }
  if (groups < 1 || left != 1) {
    std::string ranks;
    for (const FabricLevel& level : fabric.levels) {
      append_item(ranks, " x ", std::to_string(level.ranks));
    }
    throw refused(std::to_string(groups) + " groups cannot be shared out over " + ranks + " ranks",
                  "--groups", "use a divisor of the ranks of a node, or whole nodes");
  }
  return out;
}

GroupGraph group_graph(const fabric::Topology& topology, const LoweredWay& way,
                       const Contention& contention, std::int64_t count) {
  GroupGraph out;
  TopologyLinks links(topology, contention.policy, contention.seed, out.graph);
  const std::vector<int> all = ranks_of(topology);
  for (const std::int64_t group : below(count)) {
    out.begin.push_back(out.graph.size());
    std::vector<int> ranks;
    for (auto i = as_size(group); i < all.size(); i += as_size(contention.groups)) {
      ranks.push_back(all[i]);
    }
    TopologyCarrier carrier(links, std::move(ranks));
    lower(way, carrier, out.graph);
  }
  out.begin.push_back(out.graph.size());
  return out;
}

GroupTimes group_times(const fabric::Topology& topology, const FabricLevels& of_group,
                       simulate::Collective collective, Algorithm algorithm, double bytes,
                       const Contention& contention) {
  const LoweredWay way = way_of(collective, algorithm, bytes, of_group);
  GroupTimes out{.events = events_of(way) * as_double(contention.groups)};
  out.is_simulated = out.events <= contention.events_max;
  if (!out.is_simulated) return out;
  const events::SimulationOptions options{.rates_max = contention.rates_max};
  const GroupGraph alone = group_graph(topology, way, contention, 1);
  const EventList events = timed(alone.graph, options);
  out.is_simulated = events.is_complete;
  if (!out.is_simulated) return out;
  out.alone_s = out.slowest_s = out.fastest_s = events::seconds_of(events.makespan_ps);
  out.latency_s = latency_s(alone.graph, events);
  if (contention.groups < 2) return out;
  const GroupGraph all = group_graph(topology, way, contention, contention.groups);
  const EventList together = timed(all.graph, options);
  out.is_simulated = together.is_complete;
  for (std::size_t group = 0; group + 1 < all.begin.size(); ++group) {
    const double end = end_s(together, all.begin[group], all.begin[group + 1]);
    out.slowest_s = group == 0 ? end : std::max(out.slowest_s, end);
    out.fastest_s = group == 0 ? end : std::min(out.fastest_s, end);
  }
  return out;
}

}  // namespace halmark::traffic
