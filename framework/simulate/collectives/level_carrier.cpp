#include "simulate/collectives/level_carrier.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark::simulate {
namespace {

using events::Hop;
using events::LinkIndex;

std::vector<FabricLevel> levels_of(const FabricLevels& fabric) {
  std::vector<FabricLevel> out;
  std::ranges::copy_if(fabric.levels, std::back_inserter(out),
                       [](const FabricLevel& level) { return level.ranks > 1; });
  return out;
}

std::vector<std::int64_t> shape_of(const FabricLevels& fabric) {
  return mapped(fabric.levels, &FabricLevel::ranks);
}

const Protocol& protocol_of(const FabricLevels& fabric, const std::string& name) {
  static const Protocol none;
  if (name.empty()) return none;
  const auto found = std::ranges::find(fabric.protocols, name, &Protocol::name);
  if (found == fabric.protocols.end()) throw refused("no protocol '" + name + "' in this fabric");
  return *found;
}

// A piece passes as many steps as a message of one piece; those that it meets on a link share it,
// so that it passes the last of them after so many steps' time as there are.
int pieces_of(Collective collective, const FabricLevels& fabric) {
  std::int64_t steps = 0;
  for (const FabricLevel& level : fabric.levels) steps += level.ranks - 1;
  return as_int(steps) * (collective == Collective::all_reduce ? 2 : 1) * 150;
}

std::size_t index(std::int32_t value) { return as_size(value); }

}  // namespace

Adapters adapters_of(Collective collective, Algorithm algorithm) {
  const bool is_pooled = algorithm == Algorithm::tree || algorithm == Algorithm::in_switch ||
                         (algorithm == Algorithm::ring && collective != Collective::all_to_all);
  return is_pooled ? Adapters::pooled : Adapters::own;
}

LevelCarrier::LevelCarrier(Collective collective, const CollectiveTime& way,
                           const FabricLevels& fabric, events::TaskGraph& graph)
    : levels_(levels_of(fabric)),
      shape_(shape_of(fabric)),
      adapters_(adapters_of(collective, way.algorithm)),
      copies_(collective == Collective::broadcast),
      rings_(way.algorithm == Algorithm::hierarchical ||
             (way.algorithm == Algorithm::ring && collective != Collective::all_to_all)),
      is_near_(rings_ || collective == Collective::send_recv),
      graph_(graph) {
  check(fabric);
  const Protocol& protocol = protocol_of(fabric, way.protocol);
  hop_s_ = way.algorithm == Algorithm::tree ? protocol.tree_hop_s : protocol.hop_s;
  weight_ = 1 / protocol.bandwidth_share;
  out_ = add_links();
  in_ = add_links();
}

LevelCarrier::Direction LevelCarrier::add_links() {
  Direction out;
  for (const auto level : indices(levels_)) {
    const bool is_pooled = adapters_ == Adapters::pooled;
    const std::int32_t inside = is_pooled ? shape_.inside[level] : 1;
    auto& adapters = out.adapters.emplace_back();
    auto& shared = out.shared.emplace_back();
    for (std::int32_t first = 0; first < shape_.count; first += inside) {
      adapters.push_back(graph_.add_link(levels_[level].bytes_per_s * inside));
      if (!is_pooled || level == 0 || !levels_[level].shares_adapter) continue;
      shared.push_back(graph_.add_link(levels_[level - 1].bytes_per_s * inside));
    }
  }
  return out;
}

void LevelCarrier::add_hops(const Direction& direction, std::int32_t rank, std::size_t level,
                            std::vector<Hop>& hops) const {
  if (adapters_ == Adapters::own) {
    for (std::size_t l = level;; --l) {
      hops.push_back({direction.adapters[l][index(rank)], weight_of(l)});
      if (l == 0 || !levels_[l].shares_adapter) return;
    }
  }
  hops.push_back({direction.adapters[level][index(rank / shape_.inside[level])], weight_of(level)});
  // By the adapters of its own level, which those of the next may share, and of all inside of it
  // that it shares itself.
  const auto add_shared = [&](std::size_t l) {
    hops.push_back({direction.shared[l][index(rank / shape_.inside[l])], weight_of(l - 1)});
  };
  if (level + 1 < levels_.size() && levels_[level + 1].shares_adapter) add_shared(level + 1);
  for (std::size_t l = level; l > 0 && levels_[l].shares_adapter; --l) add_shared(l);
}

Passage LevelCarrier::add_passage(const std::vector<Hop>& hops, std::size_t level, bool is_free) {
  const FabricLevel& here = levels_[level];
  const bool is_ring = rings_ && here.neighbour_latency_s > 0;
  const double wire = is_ring ? here.neighbour_latency_s : here.latency_s;
  const double latency = is_free ? 0 : wire + hop_s_;
  return {.path = graph_.add_path(hops), .latency_ps = events::picoseconds(latency)};
}

Passage LevelCarrier::passage(std::int32_t from, std::int32_t to, std::uint32_t) {
  const auto [known, is_new] = passages_.try_emplace({from, to});
  if (!is_new) return known->second;
  const std::size_t level = shape_.level_between(from, to);
  std::vector<Hop> hops;
  add_hops(out_, from, level, hops);
  add_hops(in_, to, level, hops);
  return known->second = add_passage(hops, level, false);
}

std::optional<Passage> LevelCarrier::switch_passage(std::size_t level, std::int32_t first,
                                                    bool is_down) {
  const FabricLevel& here = levels_[level];
  if (here.in_switch_ranks_min < 1 || here.ranks < here.in_switch_ranks_min) return std::nullopt;
  const Direction& direction = is_down ? in_ : out_;
  const LinkIndex link = direction.adapters[level][index(first / shape_.inside[level])];
  // What is copied goes from rank to rank in one step, whose latency the way down has.
  return add_passage({{link, weight_}}, level, copies_ && !is_down);
}

events::TaskGraph lone_collective(Collective collective, const CollectiveTime& way, double bytes,
                                  const FabricLevels& fabric, int pieces) {
  events::TaskGraph graph;
  LevelCarrier carrier(collective, way, fabric, graph);
  const Protocol& protocol = protocol_of(fabric, way.protocol);
  const bool overlaps = fabric.levels_overlap && way.algorithm == Algorithm::hierarchical;
  if (overlaps && pieces == 0) pieces = pieces_of(collective, fabric);
  const bool is_tree = way.algorithm == Algorithm::tree;
  lower({.collective = collective,
         .algorithm = way.algorithm,
         .bytes = bytes,
         .shape = shape_of(fabric),
         .reduced_bytes_per_s = fabric.reduced_bytes_per_s,
         .base_s = is_tree ? protocol.tree_base_s : protocol.base_s,
         .pieces = overlaps ? pieces : 1},
        carrier, graph);
  return graph;
}

}  // namespace halmark::simulate
