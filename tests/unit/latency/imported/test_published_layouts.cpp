// Tables whose columns need more than a name: which op a row is of, which sizes follow from several
// columns, and what is no problem of any op. Expected sizes are those of the published models.

#include "latency/imported/collective_type.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

Problem first_of(const ImportedTable& table, std::size_t series = 0) {
  const Problem out = point_of(table, series).problem;
  EXPECT_EQ(out, complete_problem(out)) << "what a graph would ask for";
  return out;
}

constexpr auto fp8 = number_of(Dtype::f8_e4m3fn);

// Whole tables have both sizes in their columns: only the name of the kernel tells.
TEST(PublishedLayouts, a_row_is_of_the_kernel_that_it_names) {
  const std::string header =
      "op_name,batch_size,isl,num_heads,num_key_value_heads,head_dim,window_size,beam_width,"
      "attn_dtype,kv_cache_dtype,step,latency\n";
  const Problem decode = first_of(
      table_of(header + "generation_attention,4,1,32,8,128,0,1,bfloat16,bfloat16,1023,0.02\n"));
  EXPECT_EQ(decode.params.at("new_tokens"), 1);
  EXPECT_EQ(decode.params.at("context"), 1024);
  const Problem prefill = first_of(
      table_of(header + "context_attention,4,512,32,8,128,0,1,bfloat16,bfloat16,0,0.02\n"));
  EXPECT_EQ(prefill.params.at("new_tokens"), 512);
  EXPECT_EQ(prefill.params.at("context"), 512);
  const ImportedTable other =
      table_of(header + "cross_attention,4,512,32,8,128,0,1,bfloat16,bfloat16,0,0.02\n");
  EXPECT_THAT(other.skipped, ElementsAre(Pair("of a kernel that no layout is for", 1u)));
}

TEST(PublishedLayouts, an_encoder_sees_everything) {
  const Problem problem =
      first_of(table_of("op_name,batch_size,isl,num_heads,head_dim,attn_dtype,latency\n"
                        "encoder_attention,2,52,16,72,bfloat16,0.01\n"));
  EXPECT_EQ(problem.op, "attention");
  expect_params(problem.params, {{"causal", 0}, {"kv_heads", 16}, {"context", 52}});
}

// DeepSeek-V3 (2412.19437, section 4.2): 512 + 64 in the cache, 128 + 64 per key, 128 per value.
TEST(PublishedLayouts, latent_attention_has_the_widths_of_the_model_that_was_collected) {
  const std::string header =
      "op_name,mla_dtype,kv_cache_dtype,num_heads,batch_size,isl,tp_size,step,latency\n";
  const Problem prefill =
      first_of(table_of(header + "mla_context,bfloat16,bfloat16,16,1,4096,8,0,1.5\n"));
  EXPECT_EQ(prefill, complete_problem({"latent_attention",
                                       {{"batch", 1},
                                        {"heads", 16},
                                        {"qk_dim", 192},
                                        {"v_dim", 128},
                                        {"new_tokens", 4096},
                                        {"context", 4096},
                                        {"absorbed", 0},
                                        {"q_dtype", bf16},
                                        {"kv_dtype", bf16},
                                        {"dst_dtype", bf16}}}));
  const Problem decode =
      first_of(table_of(header + "mla_generation,bfloat16,fp8,16,64,1,8,4095,0.1\n"));
  EXPECT_EQ(decode, complete_problem({"latent_attention",
                                      {{"batch", 64},
                                       {"heads", 16},
                                       {"qk_dim", 576},
                                       {"v_dim", 512},
                                       {"new_tokens", 1},
                                       {"context", 4096},
                                       {"absorbed", 1},
                                       {"q_dtype", bf16},
                                       {"kv_dtype", fp8},
                                       {"dst_dtype", bf16}}}));
  const ImportedTable fp8_cache = table_of(header + "mla_context,bfloat16,fp8,16,1,4096,8,0,1.5\n");
  EXPECT_TRUE(fp8_cache.series.empty());
  ASSERT_EQ(fp8_cache.skipped.size(), 1u);
  says(fp8_cache.skipped.begin()->first, "cache has another type");
}

TEST(PublishedLayouts, products_into_the_latent_space_and_out_of_it) {
  const ImportedTable table = table_of(
      "op_name,kernel_source,bmm_dtype,num_tokens,num_heads,latency\n"
      "mla_gen_pre,bmm,bfloat16,32,16,0.01\nmla_gen_post,bmm,bfloat16,32,16,0.01\n");
  ASSERT_EQ(table.series.size(), 1u) << "one kernel on two shapes";
  const auto sizes = [&](std::size_t row) {
    const Params params = table.series[0].points.at(row).problem.params;
    return std::vector{params.at("groups"), params.at("m"), params.at("n"), params.at("k")};
  };
  EXPECT_EQ(table.series[0].points.op(), "batched_gemm");
  EXPECT_THAT(sizes(0), ElementsAre(16, 32, 512, 128));
  EXPECT_THAT(sizes(1), ElementsAre(16, 32, 128, 512));
}

// Qwen3-Next and Qwen3.5: 16 key heads and 32 value heads of 128, convolved together.
TEST(PublishedLayouts, linear_attention_is_a_convolution_and_a_recurrence) {
  const ImportedTable table = table_of(
      "op_name,kernel_source,phase,batch_size,seq_len,num_tokens,d_model,d_conv,num_k_heads,"
      "head_k_dim,num_v_heads,head_v_dim,model_name,latency\n"
      "gdn,causal_conv1d_fn,context,2,64,128,2048,4,16,128,32,128,q,0.01\n"
      "gdn,chunk_gated_delta_rule,context,2,64,128,2048,4,16,128,32,128,q,0.1\n"
      "gdn,chunk_gated_delta_rule,context,2,1,128,2048,4,16,128,32,128,q,0.1\n"
      "gdn,fused_sigmoid,context,2,64,128,2048,4,16,128,32,128,q,0.1\n");
  ASSERT_EQ(table.series.size(), 2u);
  const Problem convolution = first_of(table, 0);
  EXPECT_EQ(convolution.op, "short_convolution");
  EXPECT_EQ(convolution.params.at("channels"), 2 * 16 * 128 + 32 * 128);
  EXPECT_EQ(convolution.params.at("kernel"), 4);
  const Problem recurrence = first_of(table, 1);
  EXPECT_EQ(recurrence.op, "delta_rule");
  EXPECT_EQ(recurrence.params.at("value_heads"), 32);
  EXPECT_EQ(recurrence.params.at("new_tokens"), 64);
  EXPECT_EQ(table.skipped.at("of a kernel that no layout is for"), 1u);
  EXPECT_EQ(table.skipped.at("a prompt of one token, which is asked for as a decode step"), 1u);
}

// Nemotron-H (2504.03624): heads of 64, 8 groups with states of 128.
TEST(PublishedLayouts, a_state_space_convolves_values_and_both_projections) {
  const Problem problem = first_of(table_of(
      "op_name,kernel_source,phase,batch_size,seq_len,num_tokens,d_model,d_state,d_conv,nheads,"
      "head_dim,n_groups,chunk_size,model_name,latency\n"
      "mamba2,causal_conv1d_update,generation,4,1,4,4096,128,4,128,64,8,128,n,0.01\n"));
  EXPECT_EQ(problem.op, "short_convolution");
  EXPECT_EQ(problem.params.at("channels"), 128 * 64 + 2 * 8 * 128);
  EXPECT_EQ(problem.params.at("has_bias"), 1);
}

TEST(PublishedLayouts, weights_of_four_bits_are_an_op_of_their_own) {
  const ImportedTable table = table_of(
      "kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,"
      "moe_ep_size,distribution,latency\nmoe,w4a16_mxfp4,64,2880,2880,4,32,1,1,balanced,0.3\n"
      "moe,w4a8_mxfp4_mxfp8,64,2880,2880,4,32,1,1,balanced,0.2\n");
  ASSERT_EQ(table.series.size(), 4u) << "up and down, with activations of 16 bits and of 8";
  const Problem up = first_of(table, 0);
  EXPECT_EQ(up.op, "packed_grouped_gemm");
  EXPECT_EQ(up.params.at("block"), 32);
  EXPECT_EQ(up.params.at("n"), 2 * 2880);
  EXPECT_EQ(table.series[0].identity.block, "block32");
  EXPECT_EQ(first_of(table, 2), up) << "the engine chooses how activations are held";
  const Problem integers = first_of(table_of(
      "kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,"
      "moe_ep_size,distribution,latency\nmoe,int4_wo,64,7168,2048,8,384,1,8,balanced,0.3\n"));
  EXPECT_EQ(integers.op, "packed_grouped_gemm");
  EXPECT_EQ(integers.params.dtype("wei_dtype"), Dtype::s4);
  EXPECT_EQ(integers.params.dtype("src_dtype"), Dtype::bf16) << "weights alone";
  EXPECT_EQ(table.series[2].identity.block, "block32-mxfp8");
}

// NVFP4: 4-bit values in blocks of 16 on both sides of the product.
TEST(PublishedLayouts, a_product_of_packed_weights_is_an_op_of_its_own) {
  const ImportedTable table = table_of(
      "gemm_dtype,m,n,k,kernel_source,latency\nnvfp4,64,6144,4096,cutlass,0.02\n"
      "int4_wo,64,6144,4096,marlin,0.03\nbfloat16,64,6144,4096,torch,0.05\n");
  ASSERT_EQ(table.series.size(), 3u);
  std::map<std::string, Problem> by_block;
  for (std::size_t i = 0; i < 3; ++i) {
    by_block.emplace(table.series[i].identity.block, first_of(table, i));
  }
  expect_params(by_block.at("block16").params, {{"m", 64},
                                                {"n", 6144},
                                                {"k", 4096},
                                                {"block", 16},
                                                {"scale_bits", 8},
                                                {"src_dtype", number_of(Dtype::f4_e2m1)},
                                                {"wei_dtype", number_of(Dtype::f4_e2m1)},
                                                {"dst_dtype", bf16}});
  expect_params(by_block.at("block128").params,
                {{"src_dtype", bf16}, {"wei_dtype", number_of(Dtype::s4)}});
  EXPECT_EQ(by_block.at("").op, "gemm");
}

TEST(PublishedLayouts, what_is_no_operator_is_counted_with_its_reason) {
  const ImportedTable module = table_of(
      "op_name,mla_dtype,kv_cache_dtype,gemm_type,num_heads,batch_size,isl,tp_size,step,latency\n"
      "dsa_context_module,bfloat16,bfloat16,fp8_block,128,1,1,1,0,0.3\n"
      "dsa_context_module,bfloat16,bfloat16,fp8_block,128,1,2,1,0,0.3\n");
  EXPECT_TRUE(module.series.empty());
  EXPECT_THAT(module.skipped, ElementsAre(Pair(HasSubstr("module of several operators"), 2u)));
  const ImportedTable half =
      table_of("op_name,m,k,quant_dtype,latency\nscale_matrix,64,128,fp8,0.01\n");
  EXPECT_THAT(half.skipped, ElementsAre(Pair(HasSubstr("a half of quantising"), 1u)));
}

TEST(CollectiveType, sixteen_bits_are_sixteen_bits) {
  const auto problem = [](const char* op, Dtype dtype) {
    return Problem{op, {{"bytes", 64}, {"ranks", 2}, {"dtype", number_of(dtype)}}};
  };
  EXPECT_EQ(with_one_16_bit_type(problem("all_reduce", Dtype::f16)),
            with_one_16_bit_type(problem("all_reduce", Dtype::bf16)));
  EXPECT_NE(with_one_16_bit_type(problem("all_reduce", Dtype::f16)),
            with_one_16_bit_type(problem("all_reduce", Dtype::f32)));
  const Problem gemm{"gemm", {{"dtype", number_of(Dtype::f16)}}};
  EXPECT_EQ(with_one_16_bit_type(gemm), gemm) << "no collective";
}

}  // namespace
}  // namespace halmark
