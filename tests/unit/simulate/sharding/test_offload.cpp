// What moves to a slower memory, against the best of all choices.
#include "simulate/sharding/offload.hpp"

#include <bit>

#include "../../model/fixtures.hpp"
#include "model/pricing/memory.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

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
      items.push_back({"item", 1 + below(100), static_cast<double>(below(50) * below(50))});
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
        bytes += items[static_cast<std::size_t>(i)].bytes;
        ns += transfer_ns(items[static_cast<std::size_t>(i)], tier);
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
    EXPECT_LE(item.read_bytes, static_cast<double>(item.bytes) * 1.001) << item.name;
    if (item.name == "layer 5 expert_gate_up") {
      expert_share = item.read_bytes / static_cast<double>(item.bytes);
    }
  }
  const RankMemory memory = memory_use(*graph).largest;
  // All but norms and the head, which a step cannot do without.
  EXPECT_GT(static_cast<double>(bytes),
            0.97 * static_cast<double>(memory.weight_bytes + memory.kv_bytes));
  EXPECT_NEAR(expert_share, 8.0 / 128.0, 1e-9);  // a token takes 8 of 128 experts
}

}  // namespace
}  // namespace halmark::simulate
