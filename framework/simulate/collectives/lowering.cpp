// Each algorithm as its messages. The counts of steps and bytes that follow from them are those of
// cost.cpp, which knows them by formula alone.
#include "simulate/collectives/lowering.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "simulate/collectives/lowering_parts.hpp"

namespace halmark::simulate {
namespace {

using events::TaskIndex;

// What each rank begins after.
std::vector<Tasks> begin_of(const LoweredWay& way, const RankShape& shape, MessageWriter& writer,
                            std::span<const TaskIndex> after) {
  std::vector<Tasks> out(as_size(shape.count));
  for (const auto rank : indices(out)) {
    if (!after.empty()) out[rank] = {after[rank]};
    if (way.base_s <= 0) continue;
    out[rank] = {writer.delay(as_int(rank), events::EventKind::dispatch,
                              events::picoseconds(way.base_s), out[rank])};
  }
  return out;
}

bool can(const LoweredWay& way) {
  FabricLevels fabric;
  for (const std::int64_t ranks : way.shape) {
    fabric.levels.push_back(
        {.ranks = ranks, .latency_s = 0, .bytes_per_s = 1, .in_switch_ranks_min = 1});
  }
  return std::ranges::any_of(
      collective_times(way.collective, way.bytes, fabric),
      [&](const CollectiveTime& time) { return time.algorithm == way.algorithm; });
}

}  // namespace

double events_of(const LoweredWay& way) {
  const RankShape shape(way.shape);
  if (shape.count <= 1 || !can(way)) return 0;
  const double n = shape.count, passes = way.collective == Collective::all_reduce ? 2 : 1;
  double around = 0, bits = 0;
  for (const std::int32_t ranks : shape.ranks) {
    around += ranks - 1;
    bits += std::ceil(std::log2(ranks));
  }
  const double begin = way.base_s > 0 ? n : 0;
  switch (way.algorithm) {
    case Algorithm::ring:
      if (way.collective == Collective::broadcast) return begin + 3 * (n - 1) * way.channels;
      return begin + 2 * n * passes * (n - 1) *
                         (way.collective == Collective::all_to_all ? 1 : way.channels);
    case Algorithm::tree:
      return begin + 2 * passes * 3 * (n - 1) * way.channels;
    case Algorithm::halving_doubling:
      return begin + 3 * n * passes * bits;
    case Algorithm::one_shot:
      if (way.collective == Collective::send_recv) return begin + 2 * n;
      return begin + 2 * (n - 1) * (way.collective == Collective::broadcast ? 1 : n);
    case Algorithm::two_shot:
      return begin + 2 * (n - 1) * (way.collective == Collective::broadcast ? n + 1 : 2 * n);
    case Algorithm::in_switch:
      return begin + 6 * 2 * n;
    case Algorithm::hierarchical:
      return begin + 2 * n * passes * around * way.pieces;
  }
  return 0;
}

std::vector<Tasks> lower(const LoweredWay& way, Carrier& carrier, events::TaskGraph& graph,
                         std::span<const TaskIndex> after) {
  if (RankShape(way.shape).count <= 1) return {};
  if (!can(way)) {
    throw refused("no " + std::string(collective_name(way.collective)) + " by " +
                      std::string(algorithm_name(way.algorithm)) + " over these levels",
                  "collective", "collective_times tells those that there are");
  }
  const RankShape shape(way.shape);
  MessageWriter writer(graph, carrier, way.reduced_bytes_per_s);
  std::vector<Tasks> state = begin_of(way, shape, writer, after);
  const bool is_chain = way.algorithm == Algorithm::ring && way.collective == Collective::broadcast;
  if (is_chain || way.algorithm == Algorithm::tree || way.algorithm == Algorithm::in_switch) {
    lower_streams(way, shape, writer, state);
  } else {
    lower_rounds(way, shape, writer, state);
  }
  return state;
}

}  // namespace halmark::simulate
