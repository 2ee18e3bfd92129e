// Levels at random, by seed.
#pragma once

#include "core/numeric/cast.hpp"
#include "simulate/collectives/fabric_levels.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate::test {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  double uniform() { return as_double(next() >> 11) * 0x1p-53; }
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  double log_uniform(double low, double high) { return low * std::pow(high / low, uniform()); }

 private:
  // SplitMix64 (Steele, Lea and Flood, 2014).
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

inline FabricLevels random_fabric(Draw& draw, std::int64_t levels_max = 3,
                                  std::int64_t ranks_max = 9) {
  FabricLevels fabric;
  const std::int64_t levels = draw.whole(1, levels_max);
  for (std::int64_t i = 0; i < levels; ++i) {
    fabric.levels.push_back({.ranks = draw.whole(1, ranks_max),
                             .latency_s = draw.log_uniform(1e-7, 1e-4),
                             .bytes_per_s = draw.log_uniform(1e8, 1e12),
                             .in_switch_ranks_min = draw.whole(0, 4)});
    if (i == 0 || draw.whole(0, 1) == 0) continue;
    // An adapter carries outwards no more than it has.
    const double inside = fabric.levels[as_size(i) - 1].bytes_per_s;
    fabric.levels.back().shares_adapter = true;
    fabric.levels.back().bytes_per_s = inside * (0.1 + 0.9 * draw.uniform());
  }
  if (draw.whole(0, 3) == 0) {  // ranks that pass messages on
    FabricLevel& torus = fabric.levels.front();
    torus.hops = 1 + 5 * draw.uniform();
    torus.neighbour_latency_s = torus.latency_s * (0.1 + 0.9 * draw.uniform());
  }
  fabric.levels_overlap = draw.whole(0, 1) == 1;
  if (draw.whole(0, 1) == 1) fabric.protocols = nccl_protocols(Wire::network);
  return fabric;
}

}  // namespace halmark::simulate::test
