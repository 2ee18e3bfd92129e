// Mixtures of experts: what a step executes, its worked examples, and where experts are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures.hpp"
#include "kernels/routing.hpp"
#include "model/graph/expert_imbalance.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/pricing/memory.hpp"
#include "model/pricing/stack/stack.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark {
namespace {

using model_test::decode;
using model_test::find_operator;
using model_test::graph_of;
using model_test::has_operator;
using model_test::prefill;
using model_test::shipped;
using model_test::tiny_moe;

std::vector<std::string> decoder_operators(const OperatorGraph& graph) {
  std::vector<std::string> out;
  for (const Operator& op : graph.operators) {
    if (op.layer_type == "decoder_moe") out.push_back(op.name);
  }
  return out;
}

std::vector<std::string> after_norm(const Configuration& configuration,
                                    const ModelSpec& spec = tiny_moe()) {
  std::vector<std::string> all = decoder_operators(graph_of(spec, configuration));
  all.erase(all.begin(), std::ranges::find(all, "post_norm") + 1);
  return all;
}

// Qwen3-235B-A22B, one token at context 1: 2 H E, 6 K H fe, and the whole step.
TEST(MoeGraph, a_decode_step_of_qwen3_235b_matches_the_worked_example) {
  const OperatorGraph graph = graph_of(shipped("qwen3-235b-a22b"), decode(1, 1));
  const auto layer = [&](std::string_view name) {
    return find_operator(graph, name).matmul_flops / 94;
  };
  EXPECT_EQ(layer("router"), 1'048'576);
  EXPECT_EQ(layer("expert_gate_up") + layer("expert_down"), 301'989'888);
  EXPECT_EQ(graph.totals.matmul_flops, 43'138'351'104);
}

TEST(MoeGraph, a_prefill_of_qwen3_235b_matches_the_worked_example) {
  const OperatorGraph graph = graph_of(shipped("qwen3-235b-a22b"), prefill(1, 8192, 8192));
  const auto layer = [&](std::string_view name) {
    return find_operator(graph, name).matmul_flops / 94;
  };
  EXPECT_EQ(layer("router"), 8'589'934'592);
  EXPECT_EQ(layer("expert_gate_up") + layer("expert_down"), 2'473'901'162'496);
  EXPECT_EQ(graph.totals.matmul_flops, 446'535'841'087'488);
}

// Balanced experts on 8 ranks: 8192 x 8 rows over 128 experts divide evenly, so that a rank
// executes 57,330,956,107,776 FLOPs in the published example.
TEST(MoeGraph, a_rank_of_the_prefill_example_executes_its_share) {
  const OperatorGraph graph =
      graph_of(shipped("qwen3-235b-a22b"), prefill(1, 8192, 8192, {.tp = 8, .ep = 8}));
  EXPECT_EQ(graph.totals.matmul_flops_per_rank, 57'330'956'107'776);
  EXPECT_DOUBLE_EQ(graph.expert_use->imbalance, 1);
  EXPECT_EQ(graph.expert_use->held_per_rank, 16);
}

TEST(MoeGraph, one_device_routes_dispatches_computes_and_combines) {
  EXPECT_THAT(after_norm(decode(2, 8)),
              testing::ElementsAre("router", "moe_route", "moe_dispatch", "expert_gate_up",
                                   "expert_gated_activation", "expert_down", "moe_combine",
                                   "ffn_residual_add"));
}

TEST(MoeGraph, experts_within_a_tensor_group_need_its_all_reduce_only) {
  for (const int ep : {1, 2}) {
    EXPECT_THAT(after_norm(decode(4, 8, {.tp = 2, .ep = ep})),
                testing::ElementsAre("router", "moe_route", "moe_dispatch", "expert_gate_up",
                                     "expert_gated_activation", "expert_down", "moe_combine",
                                     "ffn_all_reduce", "ffn_residual_add"))
        << ep;
  }
}

TEST(MoeGraph, experts_across_replicas_exchange_rows_there_and_back) {
  EXPECT_THAT(after_norm(decode(4, 8, {.dp = 2, .ep = 2}, model_test::int8())),
              testing::ElementsAre("router", "moe_route", "moe_dispatch", "dispatch_all_to_all",
                                   "dispatch_regroup", "expert_gate_up_quantize", "expert_gate_up",
                                   "expert_gate_up_dequantize", "expert_gated_activation",
                                   "expert_down_quantize", "expert_down", "expert_down_dequantize",
                                   "combine_regroup", "combine_all_to_all", "moe_combine",
                                   "ffn_residual_add"));
  EXPECT_FALSE(has_operator(graph_of(tiny_moe(), decode(4, 8, {.dp = 2})), "dispatch_all_to_all"));
}

TEST(MoeGraph, shared_experts_are_a_dense_network_beside_the_routed_ones) {
  ModelSpec spec = tiny_moe();
  spec.moe->shared_width = 16;
  spec.moe->shared_gate = true;
  EXPECT_THAT(after_norm(decode(2, 8, {.tp = 2}), spec),
              testing::ElementsAre("router", "moe_route", "moe_dispatch", "expert_gate_up",
                                   "expert_gated_activation", "expert_down", "moe_combine",
                                   "shared_gate_up_proj", "shared_gated_activation",
                                   "shared_down_proj", "shared_expert_gate", "shared_expert_add",
                                   "ffn_all_reduce", "ffn_residual_add"));
  const OperatorGraph graph = graph_of(spec, decode(2, 8, {.tp = 2}));
  EXPECT_EQ(find_operator(graph, "shared_gate_up_proj").local.params.at("n"), 16);
  EXPECT_EQ(find_operator(graph, "shared_expert_gate").local.params.at("n"), 1);
}

TEST(MoeGraph, expert_tensor_parallelism_splits_the_width_and_expert_parallelism_the_experts) {
  const auto gemm = [](Parallel parallel) {
    return find_operator(graph_of(tiny_moe(), decode(8, 8, parallel)), "expert_gate_up").local;
  };
  const Params wide = gemm({.tp = 2}).params;  // 8 experts of width 16
  EXPECT_EQ(wide.at("n"), 16);
  EXPECT_EQ(wide.at("ep_size"), 1);
  EXPECT_EQ(wide.at("tokens"), 8);
  const Params few = gemm({.tp = 2, .ep = 2}).params;
  EXPECT_EQ(few.at("n"), 32);
  EXPECT_EQ(few.at("ep_size"), 2);
  EXPECT_EQ(few.at("tokens"), 8);
  const Params replicas = gemm({.dp = 2}).params;
  EXPECT_EQ(replicas.at("ep_size"), 1);
  EXPECT_EQ(replicas.at("tokens"), 4);
  const Params across = gemm({.dp = 2, .ep = 2}).params;
  EXPECT_EQ(across.at("ep_size"), 2);
  EXPECT_EQ(across.at("tokens"), 8);                             // of both replicas
  const Params both = gemm({.dp = 2, .tp = 2, .ep = 2}).params;  // the tensor group first
  EXPECT_EQ(both.at("ep_size"), 2);
  EXPECT_EQ(both.at("n"), 32);
  EXPECT_EQ(both.at("tokens"), 4);
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
    const Stack& stack = stacks[static_cast<std::size_t>(rank)];
    for (const StackStep& step : stack.steps) {
      const Params& params = stack.kernels[static_cast<std::size_t>(step.kernel)].problem.params;
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

TEST(MoeRefusal, an_imbalance_that_no_rank_can_have) {
  const auto reason = [](const ModelSpec& spec, std::int64_t ppm, std::int64_t skew = 0) {
    Configuration configuration = decode(4, 8, {.tp = 4, .ep = spec.moe ? 4 : 1});
    configuration.workload.expert_imbalance_ppm = ppm;
    configuration.workload.routing_skew = skew;
    const auto refusal = check_configuration(spec, configuration);
    return refusal ? refusal->reason : "";
  };
  EXPECT_EQ(reason(tiny_moe(), 4'000'000), "");
  EXPECT_EQ(reason(tiny_moe(), 4'000'001), "expert_imbalance_out_of_range");
  EXPECT_EQ(reason(tiny_moe(), 999'999), "expert_imbalance_out_of_range");
  EXPECT_EQ(reason(tiny_moe(), -1), "expert_imbalance_out_of_range");
  EXPECT_EQ(reason(tiny_moe(), 1'500'000, 50), "expert_imbalance_with_skew");
  EXPECT_EQ(reason(model_test::tiny(), 1'500'000), "expert_imbalance_without_experts");
}

TEST(MoeGraph, strategies_name_the_experts) {
  const auto strategy = [](Parallel parallel, std::string_view name) {
    return find_operator(graph_of(tiny_moe(), decode(8, 8, parallel)), name).strategy;
  };
  EXPECT_EQ(strategy({.tp = 2, .ep = 2}, "expert_gate_up"), "expert");
  EXPECT_EQ(strategy({.tp = 2}, "expert_gate_up"), "tensor");
  EXPECT_EQ(strategy({.tp = 4, .ep = 2}, "expert_gate_up"), "expert+tensor");
  EXPECT_EQ(strategy({.dp = 2, .ep = 2}, "expert_gate_up"), "expert");
  EXPECT_EQ(strategy({.dp = 4, .ep = 2}, "expert_gate_up"), "expert+replicate");
  EXPECT_EQ(strategy({.dp = 2, .ep = 2}, "dispatch_all_to_all"), "expert");
  EXPECT_EQ(strategy({.dp = 2, .ep = 2}, "router"), "replicate");
  EXPECT_EQ(strategy({.tp = 2, .ep = 2}, "q_proj"), "tensor");
}

// Experts 3 x 8 x 16 weights each, of 2 bytes; 4 layers of 8.
TEST(MoeGraph, a_rank_holds_its_experts_only) {
  const auto held = [](Parallel parallel) {
    const OperatorGraph graph = graph_of(tiny_moe(), decode(8, 8, parallel));
    return find_operator(graph, "expert_gate_up").weight_bytes_local +
           find_operator(graph, "expert_down").weight_bytes_local;
  };
  const std::int64_t all = 8 * 3 * 8 * 16 * 2;
  EXPECT_EQ(held({}), all);
  EXPECT_EQ(held({.dp = 2}), all);
  EXPECT_EQ(held({.tp = 2}), all / 2);
  EXPECT_EQ(held({.tp = 2, .ep = 2}), all / 2);
  EXPECT_EQ(held({.dp = 2, .ep = 2}), all / 2);
  EXPECT_EQ(held({.dp = 4, .tp = 2, .ep = 4}), all / 4);
  EXPECT_EQ(held({.dp = 2, .tp = 4, .ep = 2}), all / 4);
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
      ++ranks_of[static_cast<std::size_t>(layout.rank(replica, tensor))];
    }
  }
  EXPECT_THAT(ranks_of, testing::Each(2));  // `width` ranks hold each share
}

struct RefusedCase {
  Parallel parallel;
  const char* reason;
  std::vector<std::string> numbers;
};
class MoeRefused : public testing::TestWithParam<RefusedCase> {};

TEST_P(MoeRefused, with_its_reason_and_both_numbers) {
  const auto built = build_graph(tiny_moe(), decode(60, 8, GetParam().parallel));
  const auto* refusal = built.why();
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->reason, GetParam().reason);
  for (const std::string& number : GetParam().numbers) {
    EXPECT_THAT(refusal->text, testing::HasSubstr(number));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, MoeRefused,
    testing::Values(RefusedCase{{.dp = 3, .ep = 3}, "ep_does_not_divide_experts", {"ep 3", "8"}},
                    RefusedCase{{.tp = 2, .ep = 4}, "ep_exceeds_group", {"ep 4", "2 ranks"}},
                    RefusedCase{{.ep = 2}, "ep_exceeds_group", {"ep 2", "1 ranks"}},
                    RefusedCase{{.ep = 0}, "nonpositive_input", {"ep 0"}}),
    [](const auto& info) {
      return test::case_name({info.param.reason, info.param.numbers});
    });

TEST(MoeRefusal, an_expert_width_that_does_not_split) {
  ModelSpec spec = tiny_moe();
  spec.moe->width = 15;
  const auto refusal = check_configuration(spec, decode(2, 8, {.tp = 2}));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, "tp_does_not_divide_ffn");
  EXPECT_THAT(refusal->text, testing::AllOf(testing::HasSubstr("2"), testing::HasSubstr("15")));
  EXPECT_FALSE(check_configuration(spec, decode(2, 8, {.tp = 2, .ep = 2})));  // whole experts
}

TEST(MoeRefusal, a_skew_that_nothing_has_or_that_no_contract_takes) {
  Configuration configuration = decode(1, 8);
  configuration.workload.routing_skew = 50;
  EXPECT_EQ(check_configuration(model_test::tiny(), configuration)->reason,
            "routing_skew_without_experts");
  EXPECT_FALSE(check_configuration(tiny_moe(), configuration));
  configuration.workload.routing_skew = 1001;
  EXPECT_EQ(check_configuration(tiny_moe(), configuration)->reason, "routing_skew_out_of_range");
}

}  // namespace
}  // namespace halmark
