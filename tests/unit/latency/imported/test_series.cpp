// What tells kernels of one table apart, and which of them is chosen.
#include "latency/imported/series.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

using test::error_of;

std::vector<std::string> names_of(const ImportedTable& table) {
  std::vector<std::string> out;
  for (const KernelSeries& series : table.series) out.push_back(series.identity.text());
  return out;
}

TEST(Series, graph_and_eager_launches_of_one_kernel_are_two) {
  const ImportedTable table = table_of(
      "framework,op_name,kernel_source,allreduce_dtype,num_gpus,message_size,latency,backend\n"
      "vLLM,all_reduce,vLLM_custom_graph,bfloat16,2,128,0.0043,vllm_graph\n"
      "vLLM,all_reduce,vLLM_custom_eager,bfloat16,2,128,0.0206,vllm_eager\n");
  EXPECT_THAT(names_of(table), ElementsAre("all_reduce bf16 vLLM_custom_graph vllm_graph",
                                           "all_reduce bf16 vLLM_custom_eager vllm_eager"));
}

TEST(Series, blocks_of_quantisation_come_behind_what_has_none) {
  const ImportedTable table = table_of(
      "framework,kernel_source,gemm_dtype,m,n,k,latency\nVLLM,DeepGemm,fp8_block,1,32,64,0.1\n"
      "VLLM,Cutlass,fp8,1,32,64,0.1\nVLLM,DeepGemm,fp8_block,2,32,64,0.1\n");
  EXPECT_THAT(names_of(table),
              ElementsAre("gemm f8_e4m3fn Cutlass VLLM", "gemm f8_e4m3fn block128 DeepGemm VLLM"));
  EXPECT_EQ(table.series[1].points.size(), 2u);
}

TEST(Series, types_of_what_is_computed_and_cached_tell_apart) {
  const ImportedTable table = table_of(
      "batch_size,isl,num_heads,num_key_value_heads,head_dim,window_size,attn_dtype,kv_cache_dtype,"
      "latency\n1,8,4,4,64,0,bfloat16,bfloat16,1\n1,8,4,4,64,0,bfloat16,fp8,1\n");
  EXPECT_THAT(names_of(table), ElementsAre("attention bf16", "attention bf16/f8_e4m3fn"));
}

const SeriesIdentity deep_gemm{.op = "gemm",
                               .dtype = "f8_e4m3fn",
                               .kernel_source = "DeepGemm",
                               .backend = "VLLM",
                               .block = "block128"};
const SeriesIdentity cutlass{
    .op = "gemm", .dtype = "f8_e4m3fn", .kernel_source = "Cutlass", .backend = "VLLM"};

TEST(SeriesChoice, all_words_of_a_selector_are_those_of_the_series) {
  const auto rank = [](const char* selector, const SeriesIdentity& series) {
    return SeriesChoice({"nothing here", selector}, "--series").rank(series);
  };
  for (const char* selector : {"deepgemm", "gemm fp8_block", "fp8_block", "block128 vllm",
                               "gemm f8_e4m3fn block128 DeepGemm VLLM"}) {
    EXPECT_EQ(rank(selector, deep_gemm), 1u) << selector;
    EXPECT_EQ(rank(selector, cutlass), std::nullopt) << selector;
  }
  for (const char* selector : {"gemm", "fp8", "fp8 VLLM"}) {
    EXPECT_EQ(rank(selector, deep_gemm), 1u) << selector;
    EXPECT_EQ(rank(selector, cutlass), 1u) << selector;
  }
  EXPECT_EQ(rank("DeepGem", deep_gemm), std::nullopt) << "a part of a word is none";
  EXPECT_EQ(rank("gemm bf16", deep_gemm), std::nullopt);
}

TEST(SeriesChoice, a_selector_that_chooses_nothing_is_refused_with_the_nearest_word) {
  const SeriesChoice choice({"DeepGem"}, "s.toml:4");
  const Error error = error_of([&] { choice.check({deep_gemm, cutlass}); });
  EXPECT_EQ(error.where(), "s.toml:4");
  says(error.remedy(), "'DeepGemm'");
  refuses([] { SeriesChoice({" "}, "--series"); }, "without a name");
}

}  // namespace
}  // namespace halmark
