// What holds of every collective over every fabric: random ones, by seed.
#include <gtest/gtest.h>

#include <cmath>

#include "simulate/collectives/cost.hpp"

namespace halmark::simulate {
namespace {

constexpr int rounds = 400;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
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

FabricLevels random_fabric(Draw& draw) {
  FabricLevels fabric;
  const std::int64_t levels = draw.whole(1, 3);
  for (std::int64_t i = 0; i < levels; ++i) {
    fabric.levels.push_back({.ranks = draw.whole(1, 9),
                             .latency_s = draw.log_uniform(1e-7, 1e-4),
                             .bytes_per_s = draw.log_uniform(1e8, 1e12),
                             .in_switch_ranks_min = draw.whole(0, 4)});
    if (i == 0 || draw.whole(0, 1) == 0) continue;
    // An adapter carries outwards no more than it has.
    const double inside = fabric.levels[static_cast<std::size_t>(i) - 1].bytes_per_s;
    fabric.levels.back().shares_adapter = true;
    fabric.levels.back().bytes_per_s = inside * (0.1 + 0.9 * draw.uniform());
  }
  fabric.levels_overlap = draw.whole(0, 1) == 1;
  if (draw.whole(0, 1) == 1) fabric.protocols = nccl_protocols(Wire::network);
  return fabric;
}

std::string text_of(Collective c, const CollectiveTime& t, const FabricLevels& fabric) {
  std::string out =
      std::string(collective_name(c)) + ' ' + std::string(algorithm_name(t.algorithm));
  for (const FabricLevel& l : fabric.levels) out += ' ' + std::to_string(l.ranks);
  return out;
}

TEST(CollectiveProperties, nothing_is_faster_than_the_bound_of_roofline) {
  Draw draw(1);
  int seen = 0;
  for (int i = 0; i < rounds; ++i) {
    const FabricLevels fabric = random_fabric(draw);
    const double bytes = draw.log_uniform(1, 1e11);
    for (const Collective c : all_collectives()) {
      const double bound = collective_bound_s(c, bytes, fabric);
      for (const CollectiveTime& t : collective_times(c, bytes, fabric)) {
        EXPECT_GE(t.seconds(), bound * (1 - 1e-12)) << text_of(c, t, fabric);
        EXPECT_GT(bound, 0);
        ++seen;
      }
    }
  }
  EXPECT_GT(seen, 5000);
}

// One link for both levels: all that a rank sends passes it, as if there were one level.
TEST(CollectiveProperties, levels_of_one_adapter_are_no_faster_than_it) {
  const FabricLevels flat{.levels = {{.ranks = 72, .latency_s = 0, .bytes_per_s = 900e9}}};
  FabricLevels split{
      .levels = {{.ranks = 2, .latency_s = 0, .bytes_per_s = 900e9},
                 {.ranks = 36, .latency_s = 0, .bytes_per_s = 900e9, .shares_adapter = true}}};
  for (const bool overlap : {false, true}) {
    split.levels_overlap = overlap;
    for (const Collective c : all_collectives()) {
      const double seconds = best_collective(c, 1e9, split).seconds();
      EXPECT_NEAR(seconds / best_collective(c, 1e9, flat).seconds(), 1, 1e-9) << collective_name(c);
      EXPECT_LE(collective_bound_s(c, 1e9, split), seconds * (1 + 1e-12)) << collective_name(c);
    }
  }
}

TEST(CollectiveProperties, one_of_them_attains_the_bound_of_one_level) {
  FabricLevels fabric{.levels = {{.ranks = 8, .latency_s = 0, .bytes_per_s = 1e9}}};
  for (const Collective c : all_collectives()) {
    EXPECT_NEAR(best_collective(c, 1e9, fabric).seconds(), collective_bound_s(c, 1e9, fabric), 1e-9)
        << collective_name(c);
  }
}

TEST(CollectiveProperties, a_better_fabric_is_never_slower_and_more_bytes_never_faster) {
  Draw draw(2);
  for (int i = 0; i < rounds; ++i) {
    const FabricLevels fabric = random_fabric(draw);
    const auto at = static_cast<std::size_t>(
        draw.whole(0, static_cast<std::int64_t>(fabric.levels.size()) - 1));
    FabricLevels wider = fabric, nearer = fabric;
    wider.levels[at].bytes_per_s *= 1 + draw.uniform();
    nearer.levels[at].latency_s *= draw.uniform();
    const double bytes = draw.log_uniform(1, 1e11), more = bytes * (1 + draw.uniform());
    for (const Collective c : all_collectives()) {
      const double seconds = best_collective(c, bytes, fabric).seconds();
      EXPECT_LE(best_collective(c, bytes, wider).seconds(), seconds) << collective_name(c);
      EXPECT_LE(best_collective(c, bytes, nearer).seconds(), seconds) << collective_name(c);
      EXPECT_GE(best_collective(c, more, fabric).seconds(), seconds) << collective_name(c);
    }
  }
}

TEST(CollectiveProperties, levels_of_one_rank_are_no_levels) {
  Draw draw(3);
  for (int i = 0; i < rounds; ++i) {
    const FabricLevels fabric = random_fabric(draw);
    FabricLevels padded = fabric;
    padded.levels.insert(padded.levels.begin(), {.ranks = 1, .latency_s = 1, .bytes_per_s = 1});
    padded.levels.push_back({.ranks = 1, .latency_s = 1, .bytes_per_s = 1});
    for (const Collective c : all_collectives()) {
      EXPECT_EQ(best_collective(c, 1e6, fabric).seconds(),
                best_collective(c, 1e6, padded).seconds());
      EXPECT_EQ(collective_bound_s(c, 1e6, fabric), collective_bound_s(c, 1e6, padded));
    }
  }
}

}  // namespace
}  // namespace halmark::simulate
