// A target of several devices and of several nodes: what each rank may take of them.
// Shards that lie on several equal nodes of an MPI job: what of a node each has, and which kernels
// are measured where.
#include <gmock/gmock.h>

#include "tests/checkout.hpp"
#include "tests/unit/expect.hpp"
#include "tune/devices/node_job.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/plan/target.hpp"
#include "tune/steer/tune_request.hpp"

namespace halmark::tune {
namespace {

using halmark::test::error_of;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

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

// Two nodes of two cores, with two shards each.
Target two_nodes() {
  Target out;
  out.fingerprint = "machine-1";
  out.cores = 2;
  out.memory_bytes = 1 << 30;
  out.nodes = 2;
  out.ranks_per_node = 2;
  return out;
}

std::unique_ptr<TunePlan> plan_on(const Target& target, const std::string& shards = "") {
  const std::string text = "name = \"s\"\nmodel = \"tiny-qwen3\"\ndtypes = [\"f32\"]\n" + shards +
                           "[[workload]]\nphase = \"decode\"\nbatch = [24]\ncontext = 128\n";
  return measured_plan(parse_sweep(text, "s.toml"), target, false,
                       {halmark::test::in_source("/tests/data")}, {});
}

Configuration of(const TunePlan& plan, int dp, int tp, int pp) {
  for (const Configuration& c : plan.forecast().configurations) {
    if (c.parallel.dp == dp && c.parallel.tp == tp && c.parallel.pp == pp) return c;
  }
  ADD_FAILURE() << "no such configuration";
  return {};
}

// "gemm 0/2x2", once per op and place.
std::set<std::string> places_of(const TunePlan& plan, const Configuration& configuration) {
  std::set<std::string> out;
  const Composers::Entry& entry = plan.composers().of(configuration);
  EXPECT_FALSE(entry.refusal) << entry.refusal->text;
  if (!entry.composer) return out;
  for (const KernelCase& k : entry.composer->kernels()) {
    out.insert(k.problem.op + ' ' + k.device + '/' + std::to_string(k.parts) + 'x' +
               std::to_string(k.shards_at_once));
  }
  return out;
}

TEST(Nodes, have_the_memory_and_the_cores_of_one_for_their_own_shards) {
  const Target target = two_nodes();
  EXPECT_EQ(target.memory_of_rank(1), 1 << 30);
  EXPECT_EQ(target.memory_of_rank(2), 1 << 29);
  EXPECT_EQ(target.memory_of_rank(4), 1 << 29) << "two on each node";
  EXPECT_EQ(target.facts(4).shard.threads, 1);
  EXPECT_EQ(target.facts(4).shard.parts, 2);
  EXPECT_FALSE(target.is_spread(2));
  EXPECT_TRUE(target.is_spread(3));
  EXPECT_FALSE(target.is_oversubscribed(4));
}

TEST(Nodes, have_kernels_measured_where_they_stand_when_the_sweep_asks_for_it) {
  Target target = two_nodes();
  EXPECT_EQ(target.placement(4).mode, CacheMode::rotate_const);
  target.in_stack = true;
  EXPECT_EQ(target.placement(4).mode, CacheMode::in_stack);
  EXPECT_EQ(target.placement(4).per_node, 2);
  EXPECT_EQ(target.placement(2).per_node, 0) << "one node has room for two";
}

TEST(Nodes, are_filled_where_the_sweep_states_no_numbers_of_shards) {
  std::set<int> devices;
  const auto plan = plan_on(two_nodes());
  for (const Configuration& c : plan->forecast().configurations) {
    devices.insert(c.devices());
  }
  EXPECT_THAT(devices, ElementsAre(1, 2, 4));
}

TEST(Nodes, measure_a_collective_of_all_over_both_and_other_kernels_on_one) {
  const auto plan = plan_on(two_nodes());
  EXPECT_THAT(places_of(*plan, of(*plan, 1, 4, 1)),
              AllOf(Contains("all_reduce 0@2/2x4"), Contains("gemm 0/2x2")));
  // Ranks 0 and 1 of the first stage share a node, and each hands over to one of the other.
  EXPECT_THAT(places_of(*plan, of(*plan, 1, 2, 2)),
              AllOf(Contains("all_reduce 0/2x2"), Contains("send_recv 0@2/1x2")));
  EXPECT_THAT(places_of(*plan, of(*plan, 1, 2, 1)),
              AllOf(Contains("all_reduce 0/2x2"), Contains("gemm 0/2x2")));
}

TEST(Nodes, are_part_of_the_plan_and_of_no_plan_without_them) {
  Target alone = two_nodes();
  alone.nodes = alone.ranks_per_node = 0;
  EXPECT_EQ(plan_on(two_nodes())->json()["nodes"].dump(), R"({"count":2,"ranks_each":2})");
  EXPECT_FALSE(plan_on(alone)->json().contains("nodes"));
}

TEST(Nodes, that_shards_do_not_fill_leave_the_configuration_out) {
  const auto plan = plan_on(two_nodes(), "shards = [1, 3, 8]\n");
  EXPECT_THAT(plan->left_out(),
              AllOf(Contains(HasSubstr("3 ranks do not fill some of 2 nodes of 2")),
                    Contains(HasSubstr("8 ranks do not fill some of 2 nodes of 2"))));
}

TEST(Nodes, on_which_a_collective_lies_unevenly_leave_the_configuration_out) {
  Target of_three = two_nodes();
  of_three.cores = of_three.ranks_per_node = 3;
  const auto plan = plan_on(of_three, "shards = [1, 6]\n");
  // Ranks 2 and 3 of a pipeline's stage lie on two nodes, ranks 0 and 1 on one.
  EXPECT_THAT(plan->left_out(), Contains(HasSubstr("lie unevenly over nodes of 3")));
}

std::string refusal_of(const TuneRequest& request, const Sweep& sweep) {
  return error_of([&] { changed_sweep(request, sweep); }).what();
}

TEST(AskedNodes, are_said_again_and_refused_beside_what_does_not_measure_them) {
  TuneRequest request;
  request.sweep = "s.toml";
  request.nodes = {.hosts = "n1:2,n2:2", .listen = "10.0.0.1"};
  Sweep sweep;
  sweep.sampler = "grid";
  EXPECT_NO_THROW(changed_sweep(request, sweep));
  request.fleet = "postgresql://h/db";
  EXPECT_THAT(refusal_of(request, sweep), HasSubstr("with --fleet"));
  request.fleet.clear();
  request.sampler = "certify";
  EXPECT_THAT(refusal_of(request, sweep), HasSubstr("certify"));
  request.sampler.clear();
  request.shards_on = "cpu:0/2 + cpu:0/2.1";
  EXPECT_THAT(refusal_of(request, sweep), HasSubstr("with shards_on"));
  request = {};
  request.nodes.listen = "10.0.0.1";
  EXPECT_THAT(refusal_of(request, sweep), HasSubstr("--mpi-listen is for --mpi-hosts"));
}

TEST(AskedNodes, become_the_nodes_of_a_target_where_each_has_as_many_ranks) {
  Target target;
  spread_over({}, target);
  EXPECT_EQ(target.nodes, 0);
  spread_over({.hosts = "n1:3,n2:3,n3:3"}, target);
  EXPECT_EQ(target.nodes, 3);
  EXPECT_EQ(target.ranks_per_node, 3);
  halmark::test::expect_error([&] { spread_over({.hosts = "n1:2,n2:1"}, target); },
                              "node n2 has 1 ranks");
}

TEST(DeviceOverNodes, says_how_many_and_devices_of_this_machine_lie_on_one) {
  EXPECT_EQ(device_over_nodes("cpu:0", 3), "cpu:0@3");
  EXPECT_EQ(nodes_of_device("0@3"), 3);
  EXPECT_EQ(nodes_of_device("0"), 1);
  EXPECT_EQ(nodes_of_device("gpu@bus"), 1) << "a name";
}

}  // namespace
}  // namespace halmark::tune
