// Where shards lie, and what measured steps say of predicted ones.
// What moves to a slower memory, against the best of all choices.

#include "../../model/fixtures.hpp"
#include "core/numeric/cast.hpp"
#include "model/pricing/memory.hpp"
#include "simulate/sharding/calibration.hpp"
#include "simulate/sharding/offload.hpp"
#include "simulate/sharding/placement.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

// Devices by NUMA domain of one node: {3, 5}.
fabric::Topology node_of(const std::vector<int>& domains) {
  fabric::Topology out;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    for (int i = 0; i < domains[d]; ++i) {
      out.entities.push_back({.name = "node0.device" + std::to_string(out.entities.size()),
                              .kind = fabric::EntityKind::device,
                              .node = 0,
                              .numa = static_cast<int>(d)});
    }
  }
  return out;
}

TEST(Placement, puts_a_tensor_group_into_one_numa_domain) {
  // In the order of the fabric the second pair would lie across the domains.
  const fabric::Topology node = node_of({3, 3});
  const Placement placed = place_shards(node, {.dp = 2, .tp = 2});
  EXPECT_EQ(placed.groups, 2);
  EXPECT_EQ(placed.in_domain, 2);
  EXPECT_EQ(placed.entities, (std::vector<int>{0, 1, 3, 4}));
  EXPECT_EQ(place_shards(node, {.dp = 3, .tp = 2}).in_domain, 2) << "one pair is left over";
  EXPECT_EQ(place_shards(node, {.tp = 4}).in_domain, 0);
}

TEST(Placement, has_as_many_groups_in_one_domain_as_the_domains_hold) {
  std::mt19937 engine(2);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine); };
  for (int round = 0; round < 500; ++round) {
    std::vector<int> domains;
    int devices = 0;
    for (int d = 0; d <= below(4); ++d) {
      domains.push_back(1 + below(6));
      devices += domains.back();
    }
    const int tp = 1 + below(4);
    if (devices < tp) continue;
    const Parallel parallel{.dp = 1 + below(devices / tp), .tp = tp};
    std::int64_t most = 0;
    for (const int d : domains) most += d / tp;
    const Placement placed = place_shards(node_of(domains), parallel);
    EXPECT_EQ(placed.in_domain, std::min<std::int64_t>(most, parallel.dp));
    EXPECT_EQ(std::set<int>(placed.entities.begin(), placed.entities.end()).size(),
              as_size(parallel.devices()))
        << "a device is one shard";
  }
}

TEST(Calibration, is_the_geometric_mean_with_its_interval) {
  const std::vector<PredictedMeasured> pairs = {{100, 120}, {200, 260}, {50, 70}};
  const Calibration found = calibrate(pairs);
  EXPECT_EQ(found.pairs, 3u);
  EXPECT_NEAR(found.factor, std::cbrt(1.2 * 1.3 * 1.4), 1e-12);
  // t(0.975, 2) = 4.302653 (tables of Student's t).
  const double logs[] = {std::log(1.2), std::log(1.3), std::log(1.4)};
  const double middle = (logs[0] + logs[1] + logs[2]) / 3;
  double squares = 0;
  for (const double l : logs) squares += (l - middle) * (l - middle);
  const double half = 4.302653 * std::sqrt(squares / 2 / 3);
  EXPECT_NEAR(found.interval->low, std::exp(middle - half), 1e-6);
  EXPECT_NEAR(found.interval->high, std::exp(middle + half), 1e-6);
}

TEST(Calibration, corrects_nothing_with_fewer_than_three_pairs) {
  const std::vector<PredictedMeasured> two = {{100, 200}, {100, 200}, {0, 5}, {7, 0}};
  const Calibration found = calibrate(two);
  EXPECT_EQ(found.pairs, 2u);
  EXPECT_EQ(found.factor, 1);
  EXPECT_FALSE(found.interval);
  EXPECT_FALSE(found.is_applied());
}

TEST(Calibration, corrects_each_kind_by_its_own_factor) {
  const StepCalibration by{.compute = {.pairs = 3, .factor = 2, .interval = {}},
                           .communication = {.pairs = 3, .factor = 5, .interval = {}}};
  const OperatorTime time = corrected([](const Operator&) { return 10.0; }, by);
  EXPECT_EQ(*time({.name = "q_proj", .kind = OperatorKind::linear}), 20);
  EXPECT_EQ(*time({.name = "all_reduce", .kind = OperatorKind::collective}), 50);
}

TEST(Offload, is_within_one_item_of_the_optimum) {
  std::mt19937 engine(1);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine); };
  int optimal = 0, rounds = 0;
  for (; rounds < 2000; ++rounds) {
    std::vector<OffloadItem> items;
    const int count = 1 + below(9);
    std::int64_t all = 0;
    double largest = 0;
    const OffloadTier tier{
        .name = "host", .bytes = 1 << 20, .bytes_per_s = 1e9, .latency_ns = 100.0 * below(4)};
    for (int i = 0; i < count; ++i) {
      items.push_back({"item", 1 + below(100), as_double(below(50) * below(50))});
      all += items.back().bytes;
      largest = std::max(largest, transfer_ns(items.back(), tier));
    }
    const std::int64_t needed = 1 + below(static_cast<int>(all) + 5);
    double best = 1e300;
    for (unsigned set = 0; set < 1u << count; ++set) {
      std::int64_t bytes = 0;
      double ns = 0;
      for (int i = 0; i < count; ++i) {
        if ((set >> i & 1u) == 0) continue;
        bytes += items[as_size(i)].bytes;
        ns += transfer_ns(items[as_size(i)], tier);
      }
      if (bytes >= needed) best = std::min(best, ns);
    }
    const auto found = offload(items, needed, tier);
    ASSERT_EQ(found.has_value(), needed <= all);
    if (!found) continue;
    EXPECT_GE(found->bytes, needed);
    EXPECT_GE(found->ns, best - 1e-6);
    EXPECT_LE(found->ns, best + largest + 1e-6);
    optimal += found->ns <= best + 1e-6 ? 1 : 0;
  }
  EXPECT_GT(optimal, rounds / 2);
}

TEST(Offload, moves_what_a_step_reads_least_of) {
  const std::vector<OffloadItem> items = {
      {"dense", 100, 100}, {"expert", 100, 5}, {"table", 100, 0}};
  const OffloadTier tier{.name = "host", .bytes = 1000, .bytes_per_s = 1e9, .latency_ns = 10};
  EXPECT_EQ(offload(items, 50, tier)->items, (std::vector<std::size_t>{2}));
  EXPECT_EQ(offload(items, 50, tier)->ns, 0);
  EXPECT_EQ(offload(items, 150, tier)->items, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(offload(items, 150, tier)->ns, 10 + 5);
  EXPECT_EQ(offload(items, 0, tier)->items.size(), 0u);
  EXPECT_FALSE(
      offload(items, 150, {.name = "small", .bytes = 120, .bytes_per_s = 1, .latency_ns = 0}));
}

TEST(Offload, items_are_the_weights_and_cache_of_a_stage) {
  const ModelSpec spec = model_test::shipped("qwen3-30b-a3b");
  const auto graph = build_graph(spec, {.model = spec.id,
                                        .parallel = {},
                                        .precision = model_test::bf16(),
                                        .workload = {.batch = 1, .context = 4096}});
  ASSERT_TRUE(graph);
  std::int64_t bytes = 0;
  double expert_share = 0;
  for (const OffloadItem& item : offload_items(*graph, 0)) {
    bytes += item.bytes;
    EXPECT_LE(item.read_bytes, as_double(item.bytes) * 1.001) << item.name;
    if (item.name == "layer 5 expert_gate_up") {
      expert_share = item.read_bytes / as_double(item.bytes);
    }
  }
  const RankMemory memory = memory_use(*graph).largest;
  // All but norms and the head, which a step cannot do without.
  EXPECT_GT(as_double(bytes), 0.97 * as_double(memory.weight_bytes + memory.kv_bytes));
  EXPECT_NEAR(expert_share, 8.0 / 128.0, 1e-9);  // a token takes 8 of 128 experts
}

}  // namespace
}  // namespace halmark::simulate
