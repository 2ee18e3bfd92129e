// Mixtures of experts: what a step executes, its worked examples, and where experts are.

#include "core/numeric/cast.hpp"
#include "fixtures.hpp"
#include "kernels/routing.hpp"
#include "model/graph/expert_imbalance.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/pricing/memory.hpp"
#include "model/pricing/stack/stack.hpp"

namespace halmark {
namespace {

using namespace model_test;

// Behind the router's norm, the four that every step begins with.
std::vector<std::string> after_norm(const Configuration& configuration,
                                    const ModelSpec& spec = tiny_moe()) {
  std::vector<std::string> all = names_of(graph_of(spec, configuration), "decoder_moe");
  all.erase(all.begin(), std::ranges::find(all, "post_norm") + 1);
  return all;
}

TEST(MoeGraph, executes_its_operators_in_order) {
  ModelSpec shared = tiny_moe();
  shared.moe->shared_width = 16;
  shared.moe->shared_gate = true;
  const std::string experts =
      "router moe_route moe_dispatch expert_gate_up expert_gated_activation expert_down "
      "moe_combine ";
  const auto expect = [](const Configuration& c, const std::string& names,
                         const ModelSpec& spec = tiny_moe()) {
    std::string found;
    for (const std::string& name : after_norm(c, spec)) found += name + ' ';
    EXPECT_EQ(found, names + "ffn_residual_add ") << c.key();
  };
  expect(decode(2, 8), experts);
  for (const int ep : {1, 2}) {
    expect(decode(4, 8, {.tp = 2, .ep = ep}), experts + "ffn_all_reduce ");
  }
  expect(decode(4, 8, {.dp = 2, .ep = 2}, int8()),
         "router moe_route moe_dispatch dispatch_all_to_all dispatch_regroup "
         "expert_gate_up_quantize expert_gate_up expert_gate_up_dequantize expert_gated_activation "
         "expert_down_quantize expert_down expert_down_dequantize combine_regroup "
         "combine_all_to_all moe_combine ");
  expect(decode(4, 8, {.dp = 2}), experts);
  const Configuration halved = decode(2, 8, {.tp = 2});
  expect(halved,
         experts +
             "shared_gate_up_proj shared_gated_activation shared_down_proj shared_expert_gate "
             "shared_expert_add ffn_all_reduce ",
         shared);
  const OperatorGraph graph = graph_of(shared, halved);
  EXPECT_EQ(find_operator(graph, "shared_gate_up_proj").local.params.at("n"), 16);
  EXPECT_EQ(find_operator(graph, "shared_expert_gate").local.params.at("n"), 1);
}

TEST(MoeGraph, expert_tensor_parallelism_splits_the_width_and_expert_parallelism_the_experts) {
  struct Gemm {
    Parallel parallel;
    std::int64_t n, ep_size, tokens;
  };
  for (const auto& [parallel, n, ep_size, tokens] :
       {Gemm{{.tp = 2}, 16, 1, 8},  // 8 experts of width 16
        {{.tp = 2, .ep = 2}, 32, 2, 8},
        {{.dp = 2}, 32, 1, 4},
        {{.dp = 2, .ep = 2}, 32, 2, 8},              // of both replicas
        {{.dp = 2, .tp = 2, .ep = 2}, 32, 2, 4}}) {  // the tensor group first
    const OperatorGraph graph = graph_of(tiny_moe(), decode(8, 8, parallel));
    const Params& params = find_operator(graph, "expert_gate_up").local.params;
    EXPECT_EQ(params.at("n"), n) << parallel.text();
    EXPECT_EQ(params.at("ep_size"), ep_size) << parallel.text();
    EXPECT_EQ(params.at("tokens"), tokens) << parallel.text();
  }
}

TEST(MoeGraph, the_exchange_is_as_large_as_its_busiest_pair) {
  Configuration configuration = decode(8, 8, {.dp = 2, .ep = 2});
  configuration.workload.routing_skew = 150;
  const OperatorGraph graph = graph_of(tiny_moe(), configuration);
  const auto of_replica = routing_counts(4, 2, 8, 150), of_both = routing_counts(8, 2, 8, 150);
  std::int64_t most = 0;
  for (int rank = 0; rank < 2; ++rank) {
    most = std::max(most, rows_of(of_replica, local_experts(8, 2, rank)));
    most = std::max(most, (rows_of(of_both, local_experts(8, 2, rank)) + 1) / 2);
  }
  const Params& exchange = find_operator(graph, "dispatch_all_to_all").local.params;
  EXPECT_EQ(exchange.at("bytes"), 2 * most * 8 * 2);  // ranks x rows x hidden x bf16
  EXPECT_EQ(exchange.at("ranks"), 2);
}

TEST(MoeGraph, the_heaviest_rank_is_priced_and_every_rank_runs_its_own_experts) {
  Configuration configuration = decode(16, 8, {.tp = 2, .ep = 2});
  configuration.workload.routing_skew = 100;
  const OperatorGraph graph = graph_of(tiny_moe(), configuration);
  const Operator& op = find_operator(graph, "expert_gate_up");
  const auto counts = routing_counts(16, 2, 8, 100);
  EXPECT_EQ(op.local.params.at("ep_rank"), heaviest_rank(counts, 2));
  EXPECT_GT(graph.expert_use->imbalance, 1);

  const std::vector<Stack> stacks = build_stacks(graph, {.backend = "cpu", .ring_bytes = 1 << 20});
  ASSERT_EQ(stacks.size(), 2u);
  for (int rank = 0; rank < 2; ++rank) {
    const Stack& stack = stacks[as_size(rank)];
    for (const StackStep& step : stack.steps) {
      const Params& params = stack.kernels[as_size(step.kernel)].problem.params;
      if (step.operator_name == "expert_gate_up") {
        EXPECT_EQ(params.at("ep_rank"), rank);
        EXPECT_EQ(params.at("rows"), rows_of(counts, local_experts(8, 2, rank)));
      }
      if (step.operator_name == "expert_gated_activation") {
        EXPECT_EQ(params.at("rows"), rows_of(counts, local_experts(8, 2, rank)));
      }
    }
  }
}

TEST(MoeGraph, a_rank_without_a_row_goes_on_to_the_exchange) {
  // One token of two experts among eight ranks of one expert each.
  const OperatorGraph graph = graph_of(tiny_moe(), decode(8, 8, {.dp = 8, .ep = 8}));
  Configuration single = decode(1, 8, {.tp = 4, .ep = 4});
  const OperatorGraph one = graph_of(tiny_moe(), single);
  std::size_t idle = 0;
  for (const Stack& stack : build_stacks(one, {.backend = "cpu", .ring_bytes = 1 << 20})) {
    std::size_t experts = 0, reduces = 0;
    for (const StackStep& step : stack.steps) {
      experts += step.operator_name == "expert_gate_up";
      reduces += step.operator_name == "ffn_all_reduce";
    }
    idle += experts == 0;
    EXPECT_EQ(reduces, 4u);
  }
  EXPECT_GE(idle, 2u);  // at most two ranks have a row
  EXPECT_EQ(graph.expert_use->held_per_rank, 1);
}

// 3 tokens x 2 rows over 4 ranks: 1.5 rows each on paper, 2 on the rank whose kernel is measured.
TEST(MoeGraph, figures_per_rank_suppose_balanced_experts) {
  const OperatorGraph graph = graph_of(tiny_moe(), decode(3, 8, {.tp = 4, .ep = 4}));
  const Operator& op = find_operator(graph, "expert_gate_up");
  const double per_row = 2.0 * 8 * 32;
  EXPECT_EQ(op.local.params.at("rows"), 2);
  EXPECT_EQ(op.local_work.matmul_flops, 2 * per_row);
  EXPECT_EQ(op.rank_work.matmul_flops, 1.5 * per_row);
  EXPECT_EQ(op.matmul_flops_per_rank * 4, op.matmul_flops);
}

TEST(MoeGraph, a_stated_or_expected_imbalance_loads_the_slowest_rank) {
  const auto share = [](std::int64_t ppm) {
    Configuration configuration = decode(3, 8, {.tp = 4, .ep = 4});
    configuration.workload.expert_imbalance_ppm = ppm;
    const OperatorGraph graph = graph_of(tiny_moe(), configuration);
    const Operator& op = find_operator(graph, "expert_down");
    EXPECT_EQ(find_operator(graph, "router").matmul_flops_per_rank,
              find_operator(graph, "router").matmul_flops);
    return op.matmul_flops_per_rank * 4 / op.matmul_flops;
  };
  EXPECT_EQ(share(Workload::balanced_ppm), 1);
  EXPECT_DOUBLE_EQ(share(1'500'000), 1.5);
  EXPECT_DOUBLE_EQ(share(Workload::uniform_ppm), expected_imbalance(8, 2, 4, 3));
}

// Weights of 8 (1 - (3/4)^3) experts of 8, a quarter of them on a rank.
TEST(MoeGraph, few_tokens_read_the_expected_number_of_experts) {
  const OperatorGraph graph = graph_of(tiny_moe(), decode(3, 8, {.tp = 4, .ep = 4}));
  const Operator& op = find_operator(graph, "expert_down");
  const double expert_bytes = 8 * 16 * 2, distinct = 8 * (1 - 0.75 * 0.75 * 0.75);
  EXPECT_NEAR(op.whole_work.constant_bytes, distinct * expert_bytes, 1e-9);
  EXPECT_NEAR(op.rank_work.constant_bytes, distinct / 4 * expert_bytes, 1e-9);
}

TEST(MoeGraph, strategies_name_the_experts) {
  struct Named {
    Parallel parallel;
    const char *name, *strategy;
  };
  for (const auto& [parallel, name, strategy] :
       {Named{{.tp = 2, .ep = 2}, "expert_gate_up", "expert"},
        {{.tp = 2}, "expert_gate_up", "tensor"},
        {{.tp = 4, .ep = 2}, "expert_gate_up", "expert+tensor"},
        {{.dp = 2, .ep = 2}, "expert_gate_up", "expert"},
        {{.dp = 4, .ep = 2}, "expert_gate_up", "expert+replicate"},
        {{.dp = 2, .ep = 2}, "dispatch_all_to_all", "expert"},
        {{.dp = 2, .ep = 2}, "router", "replicate"},
        {{.tp = 2, .ep = 2}, "q_proj", "tensor"}}) {
    const OperatorGraph graph = graph_of(tiny_moe(), decode(8, 8, parallel));
    EXPECT_EQ(find_operator(graph, name).strategy, strategy) << parallel.text() << ' ' << name;
  }
}

TEST(MoeGraph, a_rank_holds_its_experts_only) {
  const std::int64_t all = 8 * 3 * 8 * 16 * 2;
  const std::pair<Parallel, int> shares[] = {{{}, 1},
                                             {{.dp = 2}, 1},
                                             {{.tp = 2}, 2},
                                             {{.tp = 2, .ep = 2}, 2},
                                             {{.dp = 2, .ep = 2}, 2},
                                             {{.dp = 4, .tp = 2, .ep = 4}, 4},
                                             {{.dp = 2, .tp = 4, .ep = 2}, 4}};
  for (const auto& [parallel, parts] : shares) {
    const OperatorGraph graph = graph_of(tiny_moe(), decode(8, 8, parallel));
    EXPECT_EQ(find_operator(graph, "expert_gate_up").weight_bytes_local +
                  find_operator(graph, "expert_down").weight_bytes_local,
              all / parts)
        << parallel.text();
  }
  const auto weights = [](Parallel parallel) {
    return memory_use(graph_of(tiny_moe(), decode(8, 8, parallel))).largest.weight_bytes;
  };
  EXPECT_EQ(weights({}) - weights({.dp = 2, .ep = 2}), 4 * all / 2);
}

TEST(MoeGraph, few_tokens_read_few_experts) {
  const ModelSpec spec = shipped("granite-3.1-1b-a400m");
  const auto constant = [&](std::int64_t batch) {
    return find_operator(graph_of(spec, decode(batch, 64)), "expert_gate_up")
        .local_work.constant_bytes;
  };
  EXPECT_EQ(constant(1), 8.0 * 1024 * 1024 * 2);    // 8 of 32 experts, gate and up of 512, bf16
  EXPECT_EQ(constant(64), 32.0 * 1024 * 1024 * 2);  // all
  EXPECT_EQ(graph_of(spec, decode(1, 64)).expert_use->active, 8);
}

TEST(MoeGraph, layers_without_experts_are_dense) {
  ModelSpec spec = tiny_moe();
  spec.is_sparse = {false, true, true, false};
  spec.intermediate = 12;
  const OperatorGraph graph = graph_of(spec, decode(2, 8));
  EXPECT_EQ(find_operator(graph, "gate_up_proj").count, 2);
  EXPECT_EQ(find_operator(graph, "gate_up_proj").local.params.at("n"), 24);
  EXPECT_EQ(find_operator(graph, "expert_gate_up").count, 2);
}

TEST(ExpertLayout, takes_the_tensor_group_first_and_crosses_replicas_with_the_rest) {
  const ExpertLayout layout = expert_layout({.dp = 3, .tp = 4, .ep = 6});
  EXPECT_EQ(layout.in_tensor, 2);
  EXPECT_EQ(layout.across_replicas, 3);
  EXPECT_EQ(layout.width, 2);
  std::vector<int> ranks_of(6, 0);
  for (int replica = 0; replica < 3; ++replica) {
    for (int tensor = 0; tensor < 4; ++tensor) {
      ++ranks_of[as_size(layout.rank(replica, tensor))];
    }
  }
  EXPECT_THAT(ranks_of, Each(2));  // `width` ranks hold each share
}

}  // namespace
}  // namespace halmark
