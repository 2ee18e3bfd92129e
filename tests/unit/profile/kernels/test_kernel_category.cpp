// Which operators each category of measured kernels takes, on models of three kinds.
#include <gmock/gmock.h>

#include "fixtures.hpp"
#include "profile/kernels/kernel_category.hpp"
#include "profile/kernels/layer_time.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using namespace model_test;
using testing::HasSubstr;

TEST(KernelCategory, types_of_one_class_are_those_that_one_unit_runs) {
  for (const Dtype a : {Dtype::f8_e5m2, Dtype::f8_e4m3fn, Dtype::f8_e4m3fnuz, Dtype::f8_e5m2fnuz}) {
    EXPECT_TRUE(is_same_class(a, Dtype::f8_e4m3fn));
    EXPECT_FALSE(is_same_class(a, Dtype::f32));
    EXPECT_FALSE(is_same_class(a, Dtype::bf16));
  }
  EXPECT_TRUE(is_same_class(Dtype::tf32, Dtype::f32));
  EXPECT_FALSE(is_same_class(Dtype::bf16, Dtype::f16));
  EXPECT_TRUE(is_same_class(Dtype::bf16, Dtype::bf16));
}

// Names of the operators that a category takes, each once, over one graph.
std::string claimed(std::string_view category, const OperatorGraph& graph) {
  const KernelCategory* const found = find_kernel_category(category);
  std::string out;
  for (const Operator& op : graph.operators) {
    const bool is_known = (' ' + out + ' ').find(' ' + op.name + ' ') != std::string::npos;
    if (found->claims(op) && !is_known) out += (out.empty() ? "" : " ") + op.name;
  }
  return out;
}

TEST(KernelCategory, categories_take_their_operators_and_no_others) {
  const OperatorGraph v4 =
      graph_of(shipped("deepseek-v4-flash"), decode(8, 4096, {.tp = 8, .ep = 8}, fp8()));
  const OperatorGraph next = graph_of(shipped("qwen3-next-80b-a3b"), decode(8, 4096, {.tp = 2}));
  const OperatorGraph mamba = graph_of(shipped("nemotron-3-nano-30b-a3b"), decode(8, 4096));
  struct Row {
    const char *category, *v4, *next, *mamba;
  };
  const Row table[] = {
      {"gemm",
       "attention_mix q_a_proj q_b_proj kv_proj o_a_proj o_b_proj ffn_mix router "
       "shared_gate_up_proj shared_down_proj compressor index_q_proj index_weights_proj "
       "index_compressor lm_head",
       "qkvz_proj ba_proj out_proj router shared_gate_up_proj shared_down_proj "
       "shared_expert_gate q_proj kv_proj o_proj lm_head",
       "in_proj out_proj router shared_up_proj shared_down_proj q_proj kv_proj o_proj lm_head"},
      {"mla", "attention", "delta_rule attention", "state_scan attention"},
      {"paged_mqa", "index_score", "", ""},
      {"indexer", "index_q_proj index_weights_proj index_compressor", "", ""},
      {"indexer_store", "index_append", "", ""},
      {"moe", "expert_gate_up expert_gated_activation expert_down",
       "expert_gate_up expert_gated_activation expert_down",
       "expert_up expert_activation expert_down"},
      {"moe_gate", "router", "router", "router"},
      {"topk", "moe_route", "moe_route", "moe_route"},
      {"moe_align", "moe_dispatch moe_combine", "moe_dispatch moe_combine",
       "moe_dispatch moe_combine"},
      {"activation", "shared_gated_activation", "shared_gated_activation", "shared_activation"},
      {"rmsnorm", "input_norm q_a_norm kv_norm post_norm final_norm",
       "input_norm delta_norm post_norm q_norm k_norm final_norm",
       "input_norm scan_norm post_norm final_norm"},
      {"rope", "rope", "rope", ""},
      {"hadamard", "index_hadamard", "", ""},
      {"quant",
       "qkv_quantize q_b_quantize o_a_quantize o_b_quantize expert_gate_up_quantize "
       "expert_down_quantize shared_gate_up_quantize shared_down_quantize index_quantize",
       "", ""},
      {"mla_cache_store", "latent_append", "kv_append", "kv_append"},
      {"mla_metadata", "", "", ""},
      {"mhc", "attention_mix attention_pre attention_post ffn_mix ffn_pre ffn_post", "", ""},
      {"mhc_pre_gemm", "attention_mix ffn_mix", "", ""},
      {"mhc_pre_fuse", "attention_pre ffn_pre", "", ""},
      {"mhc_post", "attention_post ffn_post", "", ""},
      {"allreduce", "embedding_all_reduce attention_all_reduce ffn_all_reduce index_all_reduce",
       "embedding_all_reduce attention_all_reduce ffn_all_reduce", ""},
      {"other", "", "", ""},
      {"linear_attention", "", "delta_rule", "state_scan"},
      {"gated_delta_rule", "", "delta_rule", ""},
      {"mamba", "", "", "state_scan"},
      {"conv1d", "", "short_convolution", "short_convolution"},
      {"residual", "shared_expert_add", "attention_residual_add shared_expert_add ffn_residual_add",
       "attention_residual_add shared_expert_add ffn_residual_add"},
      {"allgather", "logits_all_gather", "logits_all_gather", ""}};
  for (const Row& row : table) {
    EXPECT_EQ(claimed(row.category, v4), row.v4) << row.category;
    EXPECT_EQ(claimed(row.category, next), row.next) << row.category;
    EXPECT_EQ(claimed(row.category, mamba), row.mamba) << row.category;
  }
  // Further names of the same things.
  const std::pair<const char*, const char*> same[] = {
      {"gemm", "gemm_fp8"},      {"gemm", "gemm_bf16"},     {"gemm", "gemm_f32"},
      {"gemm", "gemm_fp16"},     {"gemm", "gemm_int8"},     {"gemm", "gemm_fp4"},
      {"mla", "attention"},      {"mla", "c4_prefill"},     {"mla", "c128_prefill"},
      {"moe_align", "moe_sort"}, {"moe_align", "radixsort"}};
  for (const auto& [category, other] : same) {
    EXPECT_EQ(claimed(category, v4), claimed(other, v4)) << other;
    EXPECT_EQ(claimed(category, mamba), claimed(other, mamba)) << other;
  }
  const OperatorGraph experts =
      graph_of(tiny_moe(), prefill(4, 16, 16, {.tp = 2, .pp = 2, .ep = 2}));
  EXPECT_EQ(claimed("sendrecv", experts), "stage_send_recv");
}

Device h20() {
  return {.id = "h20",
          .peaks = {{.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = 148e12}}};
}

TEST(LayerTime, a_layer_has_its_own_flops_and_its_own_time) {
  const OperatorGraph graph =
      graph_of(shipped("qwen3-235b-a22b"), prefill(1, 8192, 8192, {.tp = 8}));
  const auto uses = layer_uses(parse_layer_ms("9.0", graph), graph, h20(), {});
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].layers, 94);
  // The worked example's operators of one layer, added.
  EXPECT_EQ(uses[0].matmul_flops, 549'755'813'888.0 + 68'719'476'736.0 + 2 * 549'822'922'752.0 +
                                      549'755'813'888.0 + 8'589'934'592.0 + 2'473'901'162'496.0);
  EXPECT_NEAR(uses[0].mfu.value(), uses[0].matmul_flops / (8 * 148e12) / 9e-3, 1e-12);
  // kv_proj on pairs of ranks and the router on all.
  EXPECT_EQ(uses[0].matmul_flops_per_rank, (3 * 549'755'813'888.0 - 549'755'813'888.0 +
                                            2 * 549'822'922'752.0 + 2'473'901'162'496.0) /
                                                   8 +
                                               68'719'476'736.0 / 4 + 8'589'934'592.0);
  EXPECT_NEAR(uses[0].executed.value(), uses[0].matmul_flops_per_rank / 148e12 / 9e-3, 1e-12);
}

TEST(LayerTime, types_of_layers_have_times_of_their_own) {
  const OperatorGraph graph = graph_of(shipped("glm-4.5-air"), decode(4, 128));
  const auto uses =
      layer_uses(parse_layer_ms("decoder=0.5,decoder_moe=0.7", graph), graph, h20(), {});
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].layers + uses[1].layers, graph.spec.layers);
  EXPECT_NE(uses[0].matmul_flops, uses[1].matmul_flops);
  EXPECT_EQ(uses[1].time.ns, 0.7e6);
}

TEST(LayerTime, a_micro_batch_is_a_share_of_the_batch) {
  const auto at = [](std::int64_t batch, Parallel parallel) {
    const OperatorGraph graph = graph_of(tiny(), decode(batch, 16, parallel));
    return layer_uses(parse_layer_ms("1", graph), graph, h20(), {}).at(0);
  };
  EXPECT_EQ(at(8, {.dp = 2, .pp = 2}).matmul_flops, at(2, {}).matmul_flops);
  EXPECT_EQ(at(8, {.dp = 2, .pp = 2}).mfu, at(2, {}).mfu);
}

TEST(LayerTime, times_that_make_no_sense_are_refused) {
  const OperatorGraph one = graph_of(tiny(), decode(1, 4));
  const OperatorGraph two = graph_of(shipped("glm-4.5-air"), decode(1, 4));
  const auto refusal = [](std::string_view text, const OperatorGraph& graph) {
    return test::error_of([&] { parse_layer_ms(text, graph); }).line();
  };
  for (const char* text : {"", "0", "-1", "x", "nan", "inf", "1ms", "1e99"}) {
    EXPECT_THAT(refusal(text, one), HasSubstr("is no time")) << text;
  }
  EXPECT_THAT(refusal("1", two), HasSubstr("write decoder=MS,decoder_moe=MS"));
  EXPECT_THAT(refusal("decodr=1", one), HasSubstr("did you mean 'decoder'"));
  EXPECT_THAT(refusal("head=1", one), HasSubstr("unknown layer type 'head'"));
  EXPECT_THAT(refusal("decoder=1,decoder=2", one), HasSubstr("two times"));
  EXPECT_THAT(refusal("decoder=1,2", one), HasSubstr("no TYPE=MS"));
}

TEST(LayerTime, without_a_device_there_is_no_utilisation) {
  const OperatorGraph graph = graph_of(tiny(), decode(1, 4));
  const LayerUse use = layer_uses({{"decoder", 1e6}}, graph, std::nullopt, {}).at(0);
  EXPECT_FALSE(use.mfu);
  EXPECT_EQ(use.reason, "no device named (--device)");
  EXPECT_GT(use.matmul_flops, 0);
}

}  // namespace
}  // namespace halmark
