// Groups of ranks that do collectives at the same time.
#include "simulate/traffic/contention.hpp"

#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric_levels_of.hpp"
#include "simulate/traffic/topology_carrier.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/simulate/fabric/fabric_texts.hpp"

namespace halmark::traffic {
namespace {

using fabric::Ecmp;
using simulate::Algorithm;
using simulate::Collective;
using simulate::FabricLevels;

fabric::Topology shipped(const std::string& id) {
  return fabric::read_fabric(halmark::test::in_source("/configs/fabrics/") + id + ".toml");
}

GroupTimes times_of(const fabric::Topology& topology, Collective collective, Algorithm algorithm,
                    double bytes, const Contention& contention = {}) {
  return group_times(topology,
                     levels_of_group(simulate::fabric_levels_of(topology), contention.groups),
                     collective, algorithm, bytes, contention);
}

double collective_seconds(Collective collective, Algorithm algorithm, double bytes,
                          const FabricLevels& levels) {
  for (const simulate::CollectiveTime& t : collective_times(collective, bytes, levels)) {
    if (t.algorithm == algorithm) return t.seconds();
  }
  throw std::runtime_error("no such way");
}

void expect_sound(const fabric::Topology& topology, const events::TaskGraph& graph) {
  const events::EventList list = events::timed(graph, {.records_loads = true});
  std::vector<double> sent(graph.links(), 0);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = static_cast<events::TaskIndex>(i);
    const auto actor = events::at(graph.actor(task));
    ASSERT_LT(actor, topology.entities.size());
    EXPECT_EQ(topology.entities[actor].kind, fabric::EntityKind::device);
    if (graph.place(task).kind() != events::Place::Kind::path) continue;
    for (const events::Hop& hop :
         graph.path(static_cast<events::PathIndex>(graph.place(task).index()))) {
      sent[events::at(hop.link)] += graph.bytes(task) * hop.weight;
    }
  }
  for (std::size_t link = 0; link < sent.size(); ++link) {
    EXPECT_NEAR(list.link_bytes[link], sent[link], 1e-6 * sent[link] + 1e-3);
  }
  for (const events::LinkLoad& load : list.loads) {
    ASSERT_LE(load.bytes_per_s, graph.bytes_per_s(load.link) * (1 + 1e-9));
  }
}

// Two leaves of two hosts, one uplink each: a host of each leaf is a group.
TEST(Contention, two_groups_that_share_an_uplink_have_half_of_it_each) {
  const auto topology = fabric::parse_fabric(fabric::test::leaf_spine_text(4, 2, 1, 1), "test");
  const GroupTimes times =
      times_of(topology, Collective::all_reduce, Algorithm::ring, 1e9, {.groups = 2});
  ASSERT_TRUE(times.is_simulated);
  // 1 GB over 50 GB/s in two steps of 4 us.
  EXPECT_NEAR(times.alone_s, 0.02 + 8e-6, 1e-8);
  EXPECT_NEAR(times.slowest_s, 0.04 + 8e-6, 1e-8);
  EXPECT_NEAR(times.fastest_s, times.slowest_s, 1e-9);
  EXPECT_NEAR(times.latency_s, 8e-6, 1e-9);
}

TEST(Contention, groups_with_adapters_of_their_own_do_not_slow_each_other) {
  const GroupTimes times =
      times_of(shipped("ib-pair"), Collective::all_reduce, Algorithm::ring, 1e8, {.groups = 8});
  EXPECT_NEAR(times.slowest_s, times.alone_s, 1e-9);
}

// 48 hosts below a leaf with uplinks for 16: all at once have a third each.
TEST(Contention, all_groups_at_once_have_what_oversubscription_leaves) {
  const auto topology = shipped("leaf-spine");
  const FabricLevels levels = simulate::fabric_levels_of(topology);
  const GroupTimes times =
      times_of(topology, Collective::all_reduce, Algorithm::ring, 1e9, {.groups = 48});
  EXPECT_NEAR(times.slowest_s / times.alone_s, 3, 0.01);
  const double expected = 2 * 3.0 / 4 * 1e9 / levels.levels.back().bytes_per_s;
  EXPECT_NEAR(times.slowest_s, expected, 0.01 * expected);
}

TEST(Contention, flows_by_hash_meet_and_those_that_are_spread_do_not) {
  const auto topology = shipped("leaf-spine");
  double seconds[3] = {};
  for (const Ecmp policy : {Ecmp::hash, Ecmp::least_loaded, Ecmp::spray}) {
    seconds[static_cast<int>(policy)] =
        times_of(topology, Collective::send_recv, Algorithm::one_shot, 1e9,
                 {.groups = 48, .policy = policy})
            .slowest_s;
  }
  EXPECT_GT(seconds[0], 1.1 * seconds[2]);
  EXPECT_LT(seconds[1], seconds[0]);
  EXPECT_LE(seconds[2], seconds[1] * (1 + 1e-9));
}

TEST(Contention, the_same_seed_gives_the_same_times_and_another_one_others) {
  const auto topology = shipped("leaf-spine");
  const auto seconds = [&](std::uint64_t seed) {
    return times_of(topology, Collective::send_recv, Algorithm::one_shot, 1e9,
                    {.groups = 48, .policy = Ecmp::hash, .seed = seed})
        .slowest_s;
  };
  EXPECT_EQ(seconds(3), seconds(3));
  bool differs = false;
  for (std::uint64_t seed = 4; seed < 12; ++seed) differs = differs || seconds(seed) != seconds(3);
  EXPECT_TRUE(differs);
}

TEST(Contention, hash_lowers_the_rate_of_a_level_that_leaves_the_leaf) {
  auto topology = shipped("leaf-spine");
  const double even = simulate::fabric_levels_of(topology).levels.back().bytes_per_s;
  EXPECT_NEAR(even, 12.5e9 * 4 / 48, 1);
  topology.ecmp = Ecmp::hash;
  const FabricLevels hashed = simulate::fabric_levels_of(topology);
  // The fullest of 4 uplinks holds about 15.5 of 48 flows, where an even share is 12.
  EXPECT_NEAR(hashed.levels.back().bytes_per_s / even, 12 / 15.5, 0.01);
  EXPECT_EQ(hashed.levels.front().bytes_per_s,
            simulate::fabric_levels_of(shipped("leaf-spine")).levels.front().bytes_per_s);
}

TEST(Contention, links_of_a_topology_take_what_the_closed_form_of_its_levels_says) {
  for (const char* id : {"lite", "leaf-25gbe", "nvlink-node"}) {
    const auto topology = shipped(id);
    const FabricLevels levels = simulate::fabric_levels_of(topology);
    for (const Collective c : simulate::all_collectives()) {
      for (const simulate::CollectiveTime& t : collective_times(c, 1e7, levels)) {
        const GroupTimes times = times_of(topology, c, t.algorithm, 1e7);
        ASSERT_TRUE(times.is_simulated);
        EXPECT_NEAR(times.alone_s / t.seconds(), 1, 0.01)
            << id << ' ' << collective_name(c) << ' ' << algorithm_name(t.algorithm);
      }
    }
  }
}

// Everyone to everyone takes as many links as the ways are long, spread over all of them.
TEST(Contention, direct_collectives_over_a_torus_take_what_the_closed_form_says) {
  for (const auto& [shape, devices, hops] : std::vector<std::tuple<std::string, int, double>>{
           {"4x4", 16, 32.0 / 15}, {"5x5", 25, 60.0 / 24}, {"8x8", 64, 256.0 / 63}}) {
    const auto topology =
        fabric::parse_fabric(fabric::test::torus_text("torus", shape, devices, 45), "test");
    const FabricLevels levels = simulate::fabric_levels_of(topology);
    EXPECT_NEAR(levels.levels.back().hops, hops, 1e-12);
    for (const Collective c : {Collective::all_gather, Collective::all_to_all}) {
      const double expected = collective_seconds(c, Algorithm::one_shot, 1e9, levels);
      EXPECT_NEAR(times_of(topology, c, Algorithm::one_shot, 1e9).alone_s / expected, 1, 0.01)
          << shape << ' ' << collective_name(c);
    }
  }
}

// Conservation, capacity and existence over topologies at random.
TEST(Contention, over_random_topologies_every_byte_passes_links_that_can_carry_it) {
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto topology = fabric::parse_fabric(fabric::test::random_text(seed, 6, 4), "test");
    for (const Ecmp policy : {Ecmp::hash, Ecmp::least_loaded, Ecmp::spray}) {
      for (const Collective c : simulate::all_collectives()) {
        const FabricLevels levels{.levels = {{.ranks = 6, .latency_s = 1, .bytes_per_s = 1}}};
        for (const simulate::CollectiveTime& t : collective_times(c, 1e6, levels)) {
          const GroupGraph all = group_graph(
              topology, {.collective = c, .algorithm = t.algorithm, .bytes = 1e6, .shape = {6}},
              {.groups = 1, .policy = policy, .seed = seed}, 1);
          expect_sound(topology, all.graph);
          ++seen;
        }
      }
    }
  }
  EXPECT_GT(seen, 400);
}

// Twice the bandwidth and half of the latency everywhere: half of the time, whoever meets whom.
TEST(Contention, a_fabric_twice_as_fast_takes_half_of_the_time) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto topology = fabric::parse_fabric(fabric::test::random_text(seed, 6, 4), "test");
    auto faster = topology;
    for (fabric::LinkFigure& figure : faster.figures) {
      figure.bytes_per_s *= 2;
      figure.latency_ns /= 2;
    }
    for (const Ecmp policy : {Ecmp::hash, Ecmp::spray}) {
      const auto seconds = [&](const fabric::Topology& of) {
        const GroupGraph all = group_graph(of,
                                           {.collective = Collective::all_reduce,
                                            .algorithm = Algorithm::two_shot,
                                            .bytes = 1e7,
                                            .shape = {6}},
                                           {.policy = policy}, 1);
        return events::seconds_of(events::timed(all.graph).makespan_ps);
      };
      EXPECT_NEAR(seconds(faster) / seconds(topology), 0.5, 1e-6) << seed;
    }
  }
}

TEST(Contention, one_rank_a_group_has_no_events) {
  const GroupTimes times =
      times_of(shipped("nvlink-node"), Collective::all_reduce, Algorithm::ring, 1e6, {.groups = 8});
  EXPECT_EQ(times.events, 0);
  EXPECT_EQ(times.alone_s, 0);
}

TEST(Contention, groups_that_cannot_be_shared_out_are_refused) {
  for (const std::int64_t groups : {0, 3, 5, 32}) {
    refuses(
        [&] {
          times_of(shipped("ib-pair"), Collective::all_reduce, Algorithm::ring, 1,
                   {.groups = groups});
        },
        "groups cannot be shared out over 8 x 2 ranks");
  }
  const FabricLevels of_node = levels_of_group(simulate::fabric_levels_of(shipped("ib-pair")), 4);
  EXPECT_EQ(of_node.levels[0].ranks, 2);
  EXPECT_EQ(of_node.levels[1].ranks, 2);
}

TEST(Contention, what_would_take_too_many_events_is_not_simulated) {
  const GroupTimes times =
      times_of(shipped("torus-3d"), Collective::all_reduce, Algorithm::ring, 1e6);
  EXPECT_FALSE(times.is_simulated);
  EXPECT_GT(times.events, 3e7);
}

TEST(Contention, ranks_are_counted_from_the_innermost_level) {
  const auto topology = shipped("ib-pair");
  EXPECT_EQ(ranks_of(topology), topology.devices());
}

}  // namespace
}  // namespace halmark::traffic
