// Which operators each category of measured kernels takes, on models of three kinds.
#include <gtest/gtest.h>

#include "fixtures.hpp"
#include "profile/kernels/kernel_category.hpp"

namespace halmark {
namespace {

using namespace model_test;

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

}  // namespace
}  // namespace halmark
