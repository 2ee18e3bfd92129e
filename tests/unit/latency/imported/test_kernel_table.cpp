// Rows of published layouts become problems of our contracts.

#include <filesystem>

#include "tests/shared_data.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

using test::error_of;

TEST(KernelTable, gemm_rows_are_milliseconds_of_a_stored_weight) {
  const ImportedTable table = table_of(
      "gemm_dtype,m,n,k,latency\nbfloat16,17,4096,512,0.015\nfp8,1,32,64,0.002\n"
      "fp8_block,1,32,64,0.003\n");
  ASSERT_EQ(table.series.size(), 3u);
  EXPECT_EQ(table.series[0].identity.text(), "gemm bf16");
  EXPECT_EQ(point_of(table).problem, gemm(17, 4096, 512));
  EXPECT_DOUBLE_EQ(point_of(table).ns, 15000);
  EXPECT_EQ(table.series[2].identity.text(), "gemm f8_e4m3fn block128");
}

TEST(KernelTable, a_decode_step_sees_its_own_key_too) {
  const ImportedTable table = table_of(
      "batch_size,num_heads,num_key_value_heads,head_dim,window_size,kv_cache_dtype,step,latency\n"
      "4,32,8,128,0,bfloat16,1023,0.02\n");
  const Params& params = point_of(table).problem.params;
  EXPECT_EQ(params.at("context"), 1024);
  EXPECT_EQ(params.at("new_tokens"), 1);
}

TEST(KernelTable, a_fused_row_of_experts_is_shared_out_by_flops) {
  const ImportedTable table = table_of(
      "kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,"
      "moe_ep_size,distribution,latency\n"
      "cutlass,bfloat16,64,4096,1536,8,128,2,4,power_law_1.2,0.3\n");
  ASSERT_EQ(table.series.size(), 2u);
  EXPECT_EQ(table.series[0].part, "up");
  EXPECT_EQ(table.series[1].part, "down");
  const LatencyPoint up = point_of(table);
  const LatencyPoint down = point_of(table, 1);
  EXPECT_DOUBLE_EQ(up.ns, 200'000);
  EXPECT_DOUBLE_EQ(down.ns, 100'000);
  EXPECT_EQ(up.problem.params.at("n"), 1536);  // gate and up: 2 x 1536 / 2
  EXPECT_EQ(up.problem.params.at("k"), 4096);
  EXPECT_EQ(down.problem.params.at("n"), 4096);
  EXPECT_EQ(down.problem.params.at("k"), 768);
  EXPECT_EQ(up.problem.params.at("skew"), 120);
  EXPECT_EQ(complete_problem(up.problem), up.problem);
}

TEST(KernelTable, a_message_is_counted_in_elements_and_gathered_sizes_are_of_all_ranks) {
  const ImportedTable table = table_of(
      "op_name,nccl_dtype,num_gpus,message_size,latency\nall_gather,half,4,1024,0.01\n"
      "all_reduce,int8,4,1024,0.01\nalltoall,half,4,1024,0.01\n");
  const auto problem = [&](std::size_t series) { return point_of(table, series).problem; };
  EXPECT_EQ(problem(0).params.at("bytes"), 512);
  EXPECT_EQ(problem(1).params.at("bytes"), 1024);
  EXPECT_EQ(problem(2).op, "all_to_all");
  EXPECT_EQ(problem(2).params.at("bytes"), 2048);
}

TEST(KernelTable, what_is_gathered_has_a_part_for_every_rank) {
  const auto rows = [](const char* ranks, const char* elements) {
    return table_of(std::string("op_name,nccl_dtype,num_gpus,message_size,latency\n"
                                "all_reduce,half,4,1024,0.01\nall_gather,half,") +
                    ranks + ',' + elements + ",0.01\n");
  };
  EXPECT_EQ(rows("1", "7").series.at(1).points.at(0).problem.params.at("bytes"), 14)
      << "one rank gathers what it brings";
  EXPECT_EQ(rows("4", "8").series.at(1).points.at(0).problem.params.at("bytes"), 4);
  const ImportedTable uneven = rows("4", "7");
  EXPECT_EQ(uneven.series.size(), 1u);
  EXPECT_EQ(uneven.skipped.at("all_gather of a size that its ranks do not divide"), 1u);
}

TEST(KernelTable, rows_of_unknown_types_are_counted) {
  const ImportedTable table =
      table_of("gemm_dtype,m,n,k,latency\nbfloat16,1,2,3,1\nint9,1,2,3,1\nint9,1,2,4,1\n");
  EXPECT_EQ(table.rows, 3u);
  EXPECT_EQ(table.skipped.at("no data type 'int9'"), 2u);
  EXPECT_TRUE(table_of("gemm_dtype,m,n,k,latency\nint9,1,2,3,1\n").series.empty());
}

TEST(KernelTable, published_tables_read_whole) {
  const std::filesystem::path folder = test::shared_data("kernels");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "data not found: " << folder;
  const ImportedTable gemm = read_kernel_table(folder / "gemm_h100_trtllm_1.3.0rc20.csv.gz");
  EXPECT_EQ(gemm.rows, 100'668u);
  EXPECT_TRUE(gemm.skipped.empty());
  EXPECT_EQ(read_kernel_table(folder / "nccl_h100_2.29.2.csv").rows, 504u);
}

}  // namespace
}  // namespace halmark
