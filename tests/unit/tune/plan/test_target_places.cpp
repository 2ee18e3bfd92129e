// A target of several devices and of several nodes: what each rank may take of them.
#include <gmock/gmock.h>

#include "tests/unit/expect.hpp"
#include "tune/plan/target.hpp"

namespace halmark::tune {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

// A CPU of 8 cores and 16 GiB, an integrated device that shares them, and a card with 4 GiB.
Target machine() {
  Target out;
  out.cores = 8;
  out.memory_bytes = 16 * gib;
  Target cpu = out, shared = out, card = out;
  shared.backend = "opencl";
  card.backend = "cuda";
  card.device = "1";
  card.memory_bytes = 4 * gib;
  card.is_apart = true;
  out.named = {cpu, shared, card};
  return out;
}

// Two halves of the CPU, one rank on the integrated device, two on the card.
Configuration placed() {
  Configuration out;
  out.places = {{"cpu", "0", 2, 0},
                {"cpu", "0", 2, 1},
                {"opencl", "0", 1, 0},
                {"cuda", "1", 2, 0},
                {"cuda", "1", 2, 1}};
  out.parallel.dp = 5;
  return out;
}

TEST(TargetOfPlaces, memory_of_the_host_is_shared_by_all_that_lie_in_it) {
  const Target target = machine();
  EXPECT_EQ(target.memory_of_rank(placed(), 0), 16 * gib / 3);
  EXPECT_EQ(target.memory_of_rank(placed(), 2), 16 * gib / 3);
  EXPECT_EQ(target.memory_of_rank(placed(), 3), 2 * gib) << "two ranks on the card";
  Configuration anywhere;
  anywhere.parallel.dp = 4;
  EXPECT_EQ(target.memory_of_rank(anywhere, 0), 4 * gib);
}

TEST(TargetOfPlaces, ranks_are_placed_on_their_own_devices) {
  const Target target = machine();
  const StackPlacement placement = target.placement(placed());
  ASSERT_EQ(placement.ranks.size(), 5u);
  EXPECT_EQ(placement.winners, &target.winners);
  EXPECT_EQ(placement.mode, CacheMode::rotate_const);
  const auto rank = [&](std::size_t i) { return placement.ranks[i]; };
  EXPECT_EQ(rank(1).backend, "cpu");
  EXPECT_EQ(rank(1).parts, 2);
  EXPECT_EQ(rank(1).at_once, 2);
  EXPECT_EQ(rank(2).backend, "opencl");
  EXPECT_EQ(rank(2).at_once, 1);
  EXPECT_EQ(rank(3).device, "1");
  EXPECT_EQ(rank(3).at_once, 2);
  EXPECT_EQ(rank(3).ring_bytes, gib / 4) << "the prior of 256 MiB is less than 4 GiB / 4 / 2";
  Target stacked = machine();
  stacked.in_stack = true;
  EXPECT_EQ(stacked.placement(placed()).mode, CacheMode::in_stack);
  EXPECT_EQ(stacked.placement(2).mode, CacheMode::in_stack);
}

TEST(TargetOfPlaces, threads_are_those_of_a_part_and_none_of_a_device_apart) {
  Target target = machine();
  target.asks_energy = true;
  const DeviceFacts facts = target.facts(placed());
  ASSERT_EQ(facts.of_ranks.size(), 5u);
  EXPECT_TRUE(facts.asks_energy);
  EXPECT_EQ(facts.of_ranks[0].shard.threads, 4);
  EXPECT_EQ(facts.of_ranks[0].shard.parts, 2);
  EXPECT_EQ(facts.of_ranks[2].shard.threads, 8);
  EXPECT_EQ(facts.of_ranks[3].shard.threads, 0);
  EXPECT_EQ(facts.of_ranks[3].shard.parts, 2);
  target.named[0].cores = 1;
  EXPECT_EQ(target.facts(placed()).of_ranks[0].shard.threads, 1);
  EXPECT_TRUE(target.facts(3).asks_energy);
}

TEST(TargetOfPlaces, a_device_that_is_not_named_is_refused) {
  const Target target = machine();
  EXPECT_EQ(target.of({"cuda", "1", 4, 2}).memory_bytes, 4 * gib);
  for (const ShardPlace& place : {ShardPlace{"cuda", "0"}, ShardPlace{"cpu", "1"}}) {
    halmark::test::expect_error([&] { (void)target.of(place); },
                                "nothing is known of device " + place.device_text());
  }
}

TEST(TargetOfNodes, ranks_fill_one_node_before_the_next) {
  Target target;
  target.cores = 4;
  target.memory_bytes = 16 * gib;
  target.nodes = 2;
  target.ranks_per_node = 2;
  EXPECT_FALSE(target.is_spread(2));
  EXPECT_TRUE(target.is_spread(3));
  EXPECT_EQ(target.ranks_here(2), 2);
  EXPECT_EQ(target.ranks_here(4), 2);
  EXPECT_EQ(target.placement(4).per_node, 2);
  EXPECT_EQ(target.placement(4).parts, 2);
  EXPECT_EQ(target.placement(2).per_node, 0);
  EXPECT_EQ(target.facts(4).shard.threads, 2);
  EXPECT_EQ(target.memory_of_rank(4), 8 * gib);
  EXPECT_FALSE(target.is_oversubscribed(4));
  target.ranks_per_node = 5;
  EXPECT_TRUE(target.is_oversubscribed(6));
  EXPECT_EQ(target.placement(6).parts, 4) << "no more parts than cores";
  target.nodes = 0;
  EXPECT_FALSE(target.is_spread(9));
  EXPECT_EQ(target.ranks_here(9), 9);
  EXPECT_EQ(target.placement(3).per_node, 0);
}

TEST(TargetAlone, of_devices_that_share_nothing_is_one_part_of_each) {
  Target target;
  target.device = "7";
  target.memory_bytes = gib;
  EXPECT_FALSE(target.is_shared());
  EXPECT_FALSE(target.is_oversubscribed(99));
  EXPECT_EQ(target.memory_of_rank(4), gib);
  EXPECT_EQ(target.placement(4).parts, 1);
  EXPECT_EQ(target.placement(4).device, "0");
  EXPECT_EQ(target.placement(4).ring_bytes, 0);
  EXPECT_EQ(target.facts(4).shard.parts, ShardShare{}.parts);
  EXPECT_EQ(target.device_text(), "cpu:7");
}

}  // namespace
}  // namespace halmark::tune
