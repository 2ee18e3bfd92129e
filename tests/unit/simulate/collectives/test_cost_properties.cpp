// What holds of every collective over every fabric: random ones, by seed.

#include "random_fabric.hpp"
#include "simulate/collectives/cost.hpp"

namespace halmark::simulate {
namespace {

constexpr int rounds = 400;

using test::Draw;
using test::random_fabric;

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
