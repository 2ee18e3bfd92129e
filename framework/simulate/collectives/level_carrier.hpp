// The levels of a fabric as links: what a rank, or a group together, sends into each and receives
// from it.
#pragma once

#include <map>

#include "simulate/collectives/lowering.hpp"
#include "simulate/collectives/rank_order.hpp"

namespace halmark::simulate {

// own: what leaves a rank passes its adapter of the level. pooled: what leaves a group passes the
// adapters of all its ranks, as where every adapter has a ring or a tree of its own.
enum class Adapters { own, pooled };
Adapters adapters_of(Collective collective, Algorithm algorithm);

class LevelCarrier : public Carrier {
 public:
  // `way` names the algorithm and the protocol, "" = none: its costs of a step and its share of the
  // bandwidth. Links are added to `graph`. Throws as check() does.
  LevelCarrier(Collective collective, const CollectiveTime& way, const FabricLevels& fabric,
               events::TaskGraph& graph);

  Passage passage(std::int32_t from, std::int32_t to, std::uint32_t flow) override;
  std::optional<Passage> switch_passage(std::size_t level, std::int32_t first,
                                        bool is_down) override;
  events::ActorIndex actor(std::int32_t rank) const override {
    return static_cast<events::ActorIndex>(rank);
  }

 private:
  // By level, then by rank or group: links in one direction.
  struct Direction {
    std::vector<std::vector<events::LinkIndex>> adapters;
    // Of groups whose ranks leave by the adapters of the level inside: all of those together.
    std::vector<std::vector<events::LinkIndex>> shared;
  };
  Direction add_links();
  void add_hops(const Direction& direction, std::int32_t rank, std::size_t level,
                std::vector<events::Hop>& hops) const;
  double weight_of(std::size_t level) const {
    return is_near_ ? weight_ : weight_ * levels_[level].hops;
  }
  Passage add_passage(const std::vector<events::Hop>& hops, std::size_t level, bool is_free);

  std::vector<FabricLevel> levels_;
  RankShape shape_;
  Adapters adapters_;
  bool copies_;
  bool rings_;    // every level
  bool is_near_;  // messages go to neighbours alone
  double hop_s_ = 0, weight_ = 1;
  events::TaskGraph& graph_;
  Direction out_, in_;
  std::map<std::pair<std::int32_t, std::int32_t>, Passage> passages_;
};

// One collective over all ranks of a fabric, alone: its events, which begin at 0 and take what
// `way` (of collective_times) says. Of no events for one rank. `pieces` of a message, where levels
// overlap; 0 = as many as keep the time that it takes to fill the levels within 1 %.
events::TaskGraph lone_collective(Collective collective, const CollectiveTime& way, double bytes,
                                  const FabricLevels& fabric, int pieces = 0);

}  // namespace halmark::simulate
