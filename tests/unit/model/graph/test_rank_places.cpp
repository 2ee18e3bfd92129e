#include <gtest/gtest.h>

#include <set>

#include "fixtures.hpp"
#include "model/graph/expert_imbalance.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/graph/rank_places.hpp"
#include "model/pricing/memory.hpp"
#include "model/pricing/stack/stack.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

using namespace model_test;

TEST(RankPlaces, tensor_innermost_then_context_experts_stages_and_replicas) {
  const Parallel p{.dp = 6, .tp = 4, .pp = 5, .ep = 8, .cp = 3};
  EXPECT_EQ(group_stride(p, Split::row), 1);
  EXPECT_EQ(group_stride(p, Split::vocab), 1);
  EXPECT_EQ(group_stride(p, Split::context), 4);
  EXPECT_EQ(group_stride(p, Split::expert), 12) << "4 x 3";
  EXPECT_EQ(group_stride(p, Split::pipeline), 24) << "4 x 3 x 2 replicas that exchange rows";
  EXPECT_EQ(group_stride(p, Split::data), 120);
}

// Numbers made of one index per group are those of the devices, each once: no two groups collide.
TEST(RankPlaces, every_device_has_one_number) {
  for (const Parallel& p : {Parallel{.dp = 4, .tp = 2, .pp = 3, .ep = 4, .cp = 2},
                            Parallel{.dp = 2, .tp = 8, .pp = 1, .ep = 16, .cp = 1},
                            Parallel{.dp = 3, .tp = 1, .pp = 2, .ep = 3, .cp = 1}}) {
    const int across = expert_layout(p).across_replicas;
    std::set<std::int64_t> numbers;
    for (int t = 0; t < p.tp; ++t) {
      for (int c = 0; c < p.cp; ++c) {
        for (int e = 0; e < across; ++e) {
          for (int s = 0; s < p.pp; ++s) {
            for (int d = 0; d < p.dp / across; ++d) {
              numbers.insert(t * group_stride(p, Split::row) + c * group_stride(p, Split::context) +
                             e * group_stride(p, Split::expert) +
                             s * group_stride(p, Split::pipeline) +
                             d * group_stride(p, Split::data));
            }
          }
        }
      }
    }
    EXPECT_EQ(numbers.size(), static_cast<std::size_t>(p.devices()));
    EXPECT_EQ(*numbers.rbegin(), p.devices() - 1);
  }
}

TEST(RankPlaces, graphs_say_them_of_their_collectives) {
  const ModelSpec spec = load_model("qwen3-235b-a22b", {test::in_source("/configs/models")});
  auto built = build_graph(spec, {.model = spec.id,
                                  .parallel = {.dp = 2, .tp = 4, .pp = 2, .ep = 8},
                                  .precision = {},
                                  .workload = {Phase::decode, 8, 1, 64}});
  ASSERT_NE(built.get(), nullptr) << built.why()->text;
  std::set<std::pair<std::string, std::int64_t>> found;
  for (const Operator& op : built.get()->operators) {
    if (op.kind == OperatorKind::collective) found.emplace(op.local.op, op.group_stride);
  }
  const std::set<std::pair<std::string, std::int64_t>> wanted = {
      {"all_reduce", 1}, {"all_gather", 1}, {"all_to_all", 4}, {"send_recv", 8}};
  EXPECT_EQ(found, wanted);
}

TEST(ExpertImbalance, the_largest_of_normals_is_where_tables_have_it) {
  EXPECT_EQ(expected_normal_maximum(1), 0);
  const std::pair<std::int64_t, double> exact[] = {{2, 0.5641895835},
                                                   {3, 0.8462843753},  // 3 / (2 sqrt(pi))
                                                   {4, 1.0293753730},
                                                   {8, 1.4236003060},
                                                   {16, 1.7659913931}};
  for (const auto& [n, maximum] : exact) EXPECT_NEAR(expected_normal_maximum(n), maximum, 1e-9);
  const std::pair<std::int64_t, double> tables[] = {
      {32, 2.0697}, {64, 2.3437}, {128, 2.5946}, {256, 2.8269}};
  for (const auto& [n, maximum] : tables) EXPECT_NEAR(expected_normal_maximum(n), maximum, 5e-5);
}

struct Row {
  std::int64_t experts, top_k, ranks, tokens;
  double imbalance;
};

// An independent simulation, 2 %.
TEST(ExpertImbalance, loads_of_the_slowest_rank_under_uniform_routing) {
  constexpr Row rows[] = {
      {128, 8, 8, 8, 1.515},     {128, 8, 8, 64, 1.172},   {128, 8, 8, 512, 1.059},
      {128, 8, 8, 8192, 1.016},  {256, 8, 8, 8, 1.521},    {256, 8, 8, 64, 1.180},
      {256, 8, 8, 512, 1.059},   {256, 8, 8, 8192, 1.018}, {256, 8, 16, 8, 1.955},
      {256, 8, 16, 64, 1.319},   {256, 8, 16, 512, 1.112}, {256, 8, 16, 8192, 1.022},
      {384, 8, 16, 8, 1.963},    {384, 8, 16, 64, 1.320},  {384, 8, 16, 512, 1.107},
      {384, 8, 16, 8192, 1.030},
  };
  for (const Row& row : rows) {
    EXPECT_NEAR(expected_imbalance(row.experts, row.top_k, row.ranks, row.tokens), row.imbalance,
                0.02 * row.imbalance)
        << row.experts << ' ' << row.ranks << ' ' << row.tokens;
  }
}

TEST(ExpertImbalance, one_token_follows_the_exact_law) {
  EXPECT_NEAR(expected_imbalance(128, 8, 8, 1), 2.530, 0.0005);
  EXPECT_NEAR(expected_imbalance(256, 8, 8, 1), 2.564, 0.0005);
  EXPECT_NEAR(expected_imbalance(256, 8, 16, 1), 4.044, 0.0005);
  EXPECT_NEAR(expected_imbalance(384, 8, 16, 1), 4.072, 0.0005);
  // 2 of 4 experts on 2 ranks: both on one rank in 2 of 6 cases.
  EXPECT_NEAR(expected_imbalance(4, 2, 2, 1), (2.0 / 6 * 2 + 4.0 / 6 * 1) / 1, 1e-12);
}

// 2 tokens of one expert each on 2 ranks of one expert: 2 rows on one rank, or one on each.
TEST(ExpertImbalance, few_tokens_are_simulated) {
  EXPECT_NEAR(expected_imbalance(2, 1, 2, 2), 1.5, 0.015);
  EXPECT_EQ(expected_imbalance(256, 8, 16, 8), expected_imbalance(256, 8, 16, 8));
}

TEST(ExpertImbalance, nothing_is_left_to_chance_on_one_rank_or_with_all_experts) {
  EXPECT_EQ(expected_imbalance(128, 8, 1, 3), 1);
  EXPECT_EQ(expected_imbalance(8, 8, 4, 100), 1);
}

TEST(ExpertImbalance, vanishes_with_many_tokens) {
  EXPECT_LT(expected_imbalance(256, 8, 256, 1 << 30) - 1, 0.001);
}

// 1, and 4 - 4 (1/2)^2 of four experts two of which each of two tokens picks.
TEST(ExpertImbalance, distinct_experts_of_a_batch) {
  EXPECT_EQ(expected_distinct_experts(128, 8, 1), 8);
  EXPECT_NEAR(expected_distinct_experts(4, 2, 2), 3, 1e-12);
  EXPECT_NEAR(expected_distinct_experts(256, 8, 10'000'000), 256, 1e-9);
  EXPECT_EQ(expected_distinct_experts(4, 4, 9), 4);
}

// Linears in f8: 16-bit activations are quantised by block before them, and nothing follows them.

TEST(Fp8, linears_read_blocks_and_write_16_bits) {
  const OperatorGraph graph = graph_of(tiny(), decode(2, 8, {}, fp8()));
  EXPECT_EQ(find_operator(graph, "q_proj").dtype, Dtype::f8_e4m3fn);
  EXPECT_EQ(find_operator(graph, "q_proj").local.params.dtype("dst_dtype"), Dtype::bf16);
  EXPECT_EQ(find_operator(graph, "qkv_quantize").local.op, "block_quantize");
  EXPECT_FALSE(has_operator(graph, "q_proj_dequantize"));
  EXPECT_EQ(find_operator(graph, "attention").dtype, Dtype::bf16);
  EXPECT_EQ(find_operator(graph, "lm_head").dtype, Dtype::bf16);
}

TEST(Fp8, experts_are_quantised_and_their_router_is_not) {
  const OperatorGraph graph = graph_of(tiny_moe(), decode(2, 8, {}, fp8()));
  EXPECT_EQ(find_operator(graph, "expert_gate_up").dtype, Dtype::f8_e4m3fn);
  EXPECT_EQ(find_operator(graph, "expert_down_quantize").local.op, "block_quantize");
  EXPECT_EQ(find_operator(graph, "router").dtype, Dtype::bf16);
}

// A byte per weight and 4 bytes per block of 128 x 128; see test_memory.cpp for the sizes.
TEST(Fp8, weights_take_a_byte_and_a_scale_per_block) {
  const MemoryUse use = memory_use(graph_of(tiny(), decode(2, 8, {}, fp8())));
  const std::int64_t layer = 64 + 768 + 5 * 4;
  EXPECT_EQ(use.largest.weight_bytes, 4 * layer + 512 + 512 + 32);
}

TEST(Fp8, a_model_with_priced_operators_is_not_measured) {
  EXPECT_NO_THROW(require_measurable(graph_of(tiny(), decode(2, 8))));
  const Error error =
      test::error_of([] { require_measurable(graph_of(tiny(), decode(2, 8, {}, fp8()))); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  says(error.line(), "op block_quantize has a formula and no reference yet");
}

}  // namespace
}  // namespace halmark
