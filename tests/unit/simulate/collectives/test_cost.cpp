

#include "core/numeric/cast.hpp"
#include "kernels/contract.hpp"
#include "random_fabric.hpp"
#include "simulate/collectives/cost.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

using test::Draw;
using test::random_fabric;

constexpr double gib = 1073741824.0;

std::optional<CollectiveTime> time_by(Algorithm algorithm, Collective collective, double bytes,
                                      const FabricLevels& fabric) {
  for (const CollectiveTime& t : collective_times(collective, bytes, fabric)) {
    if (t.algorithm == algorithm) return t;
  }
  return std::nullopt;
}

FabricLevels one_node(std::int64_t ranks, double latency_s = 1e-6, double bytes_per_s = 1e9) {
  return {.levels = {{.ranks = ranks, .latency_s = latency_s, .bytes_per_s = bytes_per_s}}};
}

// Four nodes of eight B200 with one 50 GB/s adapter per device. 737 GB/s is the bus bandwidth that
// one such node reaches (stas00/ml-engineering@744d01e1, network/README.md, 4 GiB).
FabricLevels four_nodes(double inner_bytes_per_s) {
  return {.levels = {{.ranks = 8, .latency_s = 2e-6, .bytes_per_s = inner_bytes_per_s},
                     {.ranks = 4, .latency_s = 5e-6, .bytes_per_s = 50e9}}};
}

TEST(CollectiveCost, four_nodes_of_eight_cost_what_the_published_derivation_says) {
  const FabricLevels fabric = four_nodes(737e9);
  const auto ring = time_by(Algorithm::ring, Collective::all_reduce, 4 * gib, fabric);
  ASSERT_TRUE(ring);
  EXPECT_NEAR(ring->transfer_s, 20.8e-3, 0.05e-3);
  const auto serial = time_by(Algorithm::hierarchical, Collective::all_reduce, 4 * gib, fabric);
  ASSERT_TRUE(serial);
  EXPECT_NEAR(serial->transfer_s, 26.3e-3, 0.05e-3);
  FabricLevels overlapped = fabric;
  overlapped.levels_overlap = true;
  EXPECT_NEAR(
      time_by(Algorithm::hierarchical, Collective::all_reduce, 4 * gib, overlapped)->transfer_s,
      16.1e-3, 0.05e-3);
}

TEST(CollectiveCost, four_nodes_of_eight_land_near_the_measured_22_ms) {
  const ChosenCollective chosen =
      best_collective(Collective::all_reduce, 4 * gib, four_nodes(900e9));
  EXPECT_GT(chosen.seconds(), 16e-3);
  EXPECT_LT(chosen.seconds(), 26e-3);
  EXPECT_NEAR(chosen.seconds(), 22.05e-3, 0.1 * 22.05e-3);
  EXPECT_EQ(chosen.time->algorithm, Algorithm::ring);
}

struct Formula {
  Collective collective;
  Algorithm algorithm;
  double steps, share;  // of latency, of S / B
};

// n = 8, alpha = 1 us, S / B = 1 s.
TEST(CollectiveCost, formulas_of_eight_are_those_of_the_literature) {
  using enum Collective;
  using enum Algorithm;
  const Formula rows[] = {{all_reduce, ring, 14, 1.75},
                          {all_reduce, tree, 6, 2},
                          {all_reduce, halving_doubling, 6, 1.75},
                          {all_reduce, one_shot, 1, 7},
                          {all_reduce, two_shot, 2, 1.75},
                          {all_reduce, in_switch, 2, 1.125},
                          {all_gather, ring, 7, 0.875},
                          {all_gather, halving_doubling, 3, 0.875},
                          {reduce_scatter, one_shot, 1, 0.875},
                          {all_to_all, ring, 7, 0.875},
                          {all_to_all, halving_doubling, 3, 1.5},
                          {all_to_all, one_shot, 1, 0.875},
                          {broadcast, ring, 7, 1},
                          {broadcast, tree, 3, 1},
                          {broadcast, in_switch, 1, 1},
                          {send_recv, one_shot, 1, 1}};
  for (const Formula& f : rows) {
    SCOPED_TRACE(algorithm_name(f.algorithm));
    FabricLevels fabric = one_node(8);
    fabric.levels[0].in_switch_ranks_min = 6;
    const auto time = time_by(f.algorithm, f.collective, 1e9, fabric);
    ASSERT_TRUE(time);
    EXPECT_NEAR(time->latency_s, f.steps * 1e-6, 1e-12);
    EXPECT_NEAR(time->transfer_s, f.share, 1e-9);
  }
}

TEST(CollectiveCost, additions_that_are_not_hidden_are_of_halving_and_doubling) {
  FabricLevels fabric = one_node(4);
  fabric.reduced_bytes_per_s = 3e9;
  const auto time = time_by(Algorithm::halving_doubling, Collective::all_reduce, 1e9, fabric);
  EXPECT_NEAR(time->transfer_s, 1.5 + 0.75 / 3, 1e-9);
}

TEST(CollectiveCost, halving_needs_a_power_of_two_and_hierarchy_two_levels) {
  EXPECT_FALSE(time_by(Algorithm::halving_doubling, Collective::all_reduce, 1, one_node(6)));
  EXPECT_FALSE(time_by(Algorithm::hierarchical, Collective::all_reduce, 1, one_node(8)));
}

TEST(CollectiveCost, switches_add_from_their_least_number_of_ranks_on) {
  FabricLevels fabric = one_node(5);
  fabric.levels[0].in_switch_ranks_min = 6;
  EXPECT_FALSE(time_by(Algorithm::in_switch, Collective::all_reduce, 1e9, fabric));
  fabric.levels[0].ranks = 6;
  const auto time = time_by(Algorithm::in_switch, Collective::all_reduce, 1e9, fabric);
  ASSERT_TRUE(time);
  // busbw above the rate of the link, by at most 2 (n - 1) / (n + 1).
  const double bus = 1e9 * bus_factor(Collective::all_reduce, 6) / time->transfer_s;
  EXPECT_NEAR(bus, 1e9 * 2 * 5 / 7, 1);
}

TEST(CollectiveCost, one_rank_costs_nothing_and_says_so) {
  for (const Collective c : all_collectives()) {
    EXPECT_TRUE(collective_times(c, 1e9, one_node(1)).empty());
    const ChosenCollective chosen = best_collective(c, 1e9, one_node(1));
    EXPECT_EQ(chosen.seconds(), 0);
    EXPECT_EQ(chosen.bound_s, 0);
    EXPECT_EQ(chosen.reason, "one rank: nothing moves");
  }
}

TEST(CollectiveCost, small_messages_take_the_cheap_protocol_and_large_ones_the_whole_link) {
  FabricLevels fabric = one_node(8, 0, 450e9);
  fabric.protocols = nccl_protocols(Wire::nvlink);
  EXPECT_EQ(best_collective(Collective::all_gather, 1024, fabric).time->protocol, "LL");
  const ChosenCollective large = best_collective(Collective::all_gather, 4 * gib, fabric);
  EXPECT_EQ(large.time->protocol, "Simple");
  says(large.reason, "bandwidth");
  says(best_collective(Collective::all_gather, 1024, fabric).reason, "latency");
}

TEST(CollectiveCost, a_reason_names_the_runner_up_and_its_distance) {
  const ChosenCollective chosen =
      best_collective(Collective::all_reduce, 4 * gib, four_nodes(900e9));
  EXPECT_THAT(chosen.reason,
              testing::MatchesRegex("ring: 2[01].* ms, bandwidth .*; tree would take .*"));
}

TEST(CollectiveCost, figures_that_no_fabric_has_are_refused) {
  FabricLevels fabric = one_node(8);
  fabric.levels[0].bytes_per_s = 0;
  const Error error =
      halmark::test::error_of([&] { collective_times(Collective::all_reduce, 1, fabric); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  says(error.line(), "fabric level 0: bytes_per_s");
  fabric = one_node(8, -1e-6);
  EXPECT_THROW(collective_times(Collective::all_reduce, 1, fabric), Error);
  fabric = one_node(0);
  EXPECT_THROW(collective_times(Collective::all_reduce, 1, fabric), Error);
}

// The contracts of the kernels have their own words for what moves.
TEST(CollectiveWork, is_that_of_the_contract_of_the_op) {
  for (const Collective c : all_collectives()) {
    for (const std::int64_t ranks : {1, 2, 3, 8}) {
      const std::int64_t bytes = 24 * 4096;
      const std::int64_t of_rank = c == Collective::all_gather ? bytes / ranks : bytes;
      const Problem problem =
          complete_problem({std::string(collective_name(c)),
                            {{"bytes", of_rank},
                             {"ranks", ranks},
                             {"dtype", static_cast<std::int64_t>(Dtype::f32)}}});
      const Work theirs = find_contract(problem.op)->work(problem.params);
      const Work ours = collective_work(c, as_double(bytes), ranks);
      EXPECT_EQ(ours.message_bytes, theirs.message_bytes) << problem.op << ranks;
      EXPECT_NEAR(ours.transfer_bytes, theirs.transfer_bytes, 1e-9) << problem.op << ranks;
      EXPECT_EQ(ours.exchange, theirs.exchange) << problem.op << ranks;
    }
  }
}

// What holds of every collective over every fabric: random ones, by seed.

constexpr int rounds = 400;

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
    const auto at = as_size(draw.whole(0, static_cast<std::int64_t>(fabric.levels.size()) - 1));
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
