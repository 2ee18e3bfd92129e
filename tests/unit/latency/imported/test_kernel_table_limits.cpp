// Both sides of what a field of a foreign table may say, and which problem its row becomes.

#include "kernels/routing.hpp"
#include "tests/unit/latency/fixtures.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using namespace latency_test;

using test::error_of;
using test::ScratchFolder;
using test::write_file;

const std::string gemm_header = "gemm_dtype,m,n,k,latency\n";

Problem gemm_of(const std::string& m) {
  return point_of(table_of(gemm_header + "bfloat16," + m + ",2,3,1\n")).problem;
}

TEST(KernelTableField, an_integer_may_be_written_as_a_number_and_is_nothing_else) {
  EXPECT_EQ(gemm_of("4096").params.at("m"), 4096);
  EXPECT_EQ(gemm_of("4096.0").params.at("m"), 4096);
  EXPECT_EQ(gemm_of("4e3").params.at("m"), 4000);
  for (const char* text : {"", "4096x", "x4096", "1.5", "inf", "nan", " 1", "1e400"}) {
    says(table_refusal(gemm_header + "bfloat16," + text + ",2,3,1\n"),
         "t.csv:2: '" + std::string(text) + "' is no integer for m");
  }
  // Beyond 1e15 a double skips integers; what is below is left to the contract.
  says(table_refusal(gemm_header + "bfloat16,1e15,2,3,1\n"), "is not in 1..");
  says(table_refusal(gemm_header + "bfloat16,1.5e15,2,3,1\n"), "no integer");
  says(table_refusal(gemm_header + "bfloat16,-1.5e15,2,3,1\n"), "no integer");
  says(table_refusal(gemm_header + "bfloat16,-5,2,3,1\n"), "m -5 is not in 1..");
  says(table_refusal(gemm_header + "bfloat16,0,2,3,1\n"), "m 0 is not in 1..");
  says(table_refusal(gemm_header + "bfloat16,1,2,3,0.1\nbfloat16,x,2,3,0.1\n"),
       "t.csv:3: 'x' is no integer for m");
}

TEST(KernelTableField, a_time_is_a_positive_number_and_nothing_else) {
  const auto ns = [](const char* text) {
    return point_of(table_of(gemm_header + "bfloat16,1,2,3," + text + "\n")).ns;
  };
  EXPECT_DOUBLE_EQ(ns("1.1e-7"), 0.11);
  EXPECT_DOUBLE_EQ(ns("1e9"), 1e15);
  EXPECT_DOUBLE_EQ(ns("0.5"), 5e5);
  for (const char* text : {"", "0", "-0.1", "0.1ms", "ms", "nan", "inf", "1e305"}) {
    says(table_refusal(gemm_header + "bfloat16,1,2,3," + text + "\n"),
         "t.csv:2: '" + std::string(text) + "' is no time in column latency");
  }
  // 1e-12 s, and 1e300 s: somebody took another unit, or wrote no time at all.
  for (const char* text : {"1e-9", "9.9e-8", "1.01e9", "1e297"}) {
    says(table_refusal(gemm_header + "bfloat16,1,2,3," + text + "\n"),
         "a kernel takes between 0.1 ns and eleven days");
  }
}

TEST(KernelTableField, types_are_spelled_as_collectors_spell_them) {
  const auto dtype = [](const char* text) {
    return table_of(gemm_header + text + ",1,2,3,1\n")
        .series.at(0)
        .points.at(0)
        .problem.params.dtype("src_dtype");
  };
  EXPECT_EQ(dtype("fp8_block"), Dtype::f8_e4m3fn);
  EXPECT_EQ(dtype("half"), Dtype::f16);
  EXPECT_EQ(dtype("bfloat16"), Dtype::bf16);
}

TEST(KernelTableField, relations_of_the_contract_hold_for_rows_too) {
  const std::string header =
      "batch_size,num_heads,num_key_value_heads,head_dim,window_size,kv_cache_dtype,step,latency\n";
  const Problem problem = point_of(table_of(header + "4,32,8,128,512,bfloat16,0,0.02\n")).problem;
  EXPECT_EQ(problem, complete_problem(problem)) << "derived parameters and defaults are set";
  EXPECT_EQ(problem.params.at("context"), 1);
  EXPECT_EQ(problem.params.at("window"), 512);
  says(table_refusal(header + "4,32,7,128,0,bfloat16,9,0.02\n"), "t.csv:2: ");
}

struct Experts {
  std::string tokens = "64", top_k = "8", experts = "128", tp = "2", ep = "4",
              distribution = "balanced", kernel = "cutlass", dtype = "bfloat16";
  std::string text() const {
    return "kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,"
           "moe_tp_size,moe_ep_size,distribution,latency\n" +
           kernel + ',' + dtype + ',' + tokens + ",4096,1536," + top_k + ',' + experts + ',' + tp +
           ',' + ep + ',' + distribution + ",0.3\n";
  }
};

TEST(KernelTableExperts, sizes_fit_together_or_are_refused) {
  for (const Experts& good :
       {Experts{.tokens = "1"}, Experts{.top_k = "1"}, Experts{.top_k = "128"}, Experts{.ep = "1"},
        Experts{.ep = "128"}, Experts{.tp = "1"}, Experts{.tp = "1536"}}) {
    EXPECT_EQ(table_of(good.text()).series.size(), 2u) << good.text();
  }
  for (const Experts& bad :
       {Experts{.tokens = "0"}, Experts{.top_k = "0"}, Experts{.top_k = "129"}, Experts{.ep = "0"},
        Experts{.ep = "-1"}, Experts{.ep = "3"}, Experts{.ep = "256"}}) {
    says(table_refusal(bad.text()), "t.csv:2: tokens, top_k, experts and ep_size");
  }
  for (const char* tp : {"0", "-2", "5", "1537"}) {
    says(table_refusal(Experts{.tp = tp}.text()), "expert_tp does not divide");
  }
}

TEST(KernelTableExperts, a_distribution_is_balanced_or_a_power_law_of_at_most_ten) {
  const auto skew = [](const char* distribution) {
    return table_of(Experts{.distribution = distribution}.text())
        .series.at(0)
        .points.at(0)
        .problem.params.at("skew");
  };
  EXPECT_EQ(skew("balanced"), 0);
  EXPECT_EQ(skew("power_law_0"), 0);
  EXPECT_EQ(skew("power_law_0.01"), 1);
  EXPECT_EQ(skew("power_law_1.01"), 101);
  EXPECT_EQ(skew("power_law_1.2"), 120);
  for (const char* bad : {"power_law_", "power_law_x", "power_law_1.2x", "power_law_-0.1",
                          "power_law_nan", "power_law_10.01", "power_law_1e400"}) {
    says(table_refusal(Experts{.distribution = bad}.text()),
         "'" + std::string(bad) + "' is no distribution");
  }
  const ImportedTable other = table_of(Experts{.distribution = "zipf"}.text());
  EXPECT_TRUE(other.series.empty());
  EXPECT_EQ(other.skipped.at("distribution 'zipf'"), 1u);
  EXPECT_EQ(table_of(Experts{.dtype = "int9"}.text()).skipped.at("no data type 'int9'"), 1u);
}

// Rank 0 of a power law has the first experts, and those have most rows; a balanced table loads
// all ranks alike.
TEST(KernelTableExperts, times_are_those_of_the_heaviest_rank_of_each_distribution) {
  const std::string text = Experts{.distribution = "power_law_1.2"}.text() +
                           "cutlass,bfloat16,64,4096,1536,8,128,2,4,balanced,0.2\n"
                           "cutlass,bfloat16,64,4096,1536,8,128,2,8,power_law_1.2,0.2\n";
  const ImportedTable table = table_of(text);
  for (const KernelSeries& series : table.series) {
    ASSERT_EQ(series.points.size(), 3u);
    for (const LatencyPoint& point : series.points.all()) {
      const Params& params = point.problem.params;
      const auto counts = routing_counts(64, 8, 128, params.at("skew"));
      const auto size = counts.size() / static_cast<std::size_t>(params.at("ep_size"));
      std::vector<std::int64_t> rows;
      for (std::size_t first = 0; first < counts.size(); first += size) {
        rows.push_back(std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(first),
                                       counts.begin() + static_cast<std::ptrdiff_t>(first + size),
                                       std::int64_t{0}));
      }
      EXPECT_EQ(rows[static_cast<std::size_t>(params.at("ep_rank"))], std::ranges::max(rows));
      EXPECT_EQ(params.at("rows"), std::ranges::max(rows));
    }
  }
}

// Without a gate there is one matrix up and one down, half of the FLOPs each.
TEST(KernelTableExperts, a_kernel_without_a_gate_has_one_matrix_up) {
  const ImportedTable table = table_of(Experts{.kernel = "cutlass_nongated"}.text());
  ASSERT_EQ(table.series.size(), 2u);
  EXPECT_EQ(table.series[0].part, "up");
  EXPECT_EQ(table.series[1].part, "down");
  EXPECT_EQ(table.series[0].identity.text(), "grouped_gemm bf16 cutlass_nongated");
  EXPECT_DOUBLE_EQ(point_of(table).ns, 150'000);
  EXPECT_DOUBLE_EQ(point_of(table, 1).ns, 150'000);
  EXPECT_EQ(point_of(table).problem.params.at("n"), 1536 / 2);
}

TEST(KernelTableCollectives, unknown_ops_and_types_are_counted_and_ranks_refused) {
  const std::string header = "op_name,nccl_dtype,num_gpus,message_size,latency\n";
  const ImportedTable table = table_of(header +
                                       "all_reduce,half,4,1024,0.01\nbarrier,half,4,1024,0.01\n"
                                       "all_reduce,int9,4,1024,0.01\nall_gather,half,0,8,0.01\n");
  EXPECT_EQ(table.series.at(0).points.size(), 1u);
  EXPECT_EQ(table.skipped.at("no op 'barrier'"), 1u);
  EXPECT_EQ(table.skipped.at("no data type 'int9'"), 1u);
  EXPECT_EQ(table.skipped.at("all_gather of a size that its ranks do not divide"), 1u);
  EXPECT_EQ(table.rows, 4u);
  const Params& params = point_of(table).problem.params;
  EXPECT_EQ(params.at("bytes"), 2048);
  EXPECT_EQ(params.at("ranks"), 4);
  EXPECT_EQ(params.dtype("dtype"), Dtype::bf16) << "16 bits are moved, whatever they mean";
}

TEST(KernelTableCollectives, a_table_of_one_op_needs_no_column_for_it) {
  const ImportedTable table = table_of("num_gpus,message_size,latency\n8,1000,0.02\n");
  const LatencyPoint& point = point_of(table);
  EXPECT_EQ(point.problem.op, "all_reduce");
  EXPECT_EQ(point.problem.params.at("bytes"), 2000) << "bf16";
  EXPECT_DOUBLE_EQ(point.ns, 20'000);
}

TEST(KernelTableFile, is_read_by_the_layout_that_is_named_or_that_fits) {
  const ScratchFolder folder;
  write_file(folder / "t.csv", "gemm_dtype,m,n,k,latency\nbfloat16,1,2,3,1\n");
  EXPECT_DOUBLE_EQ(read_kernel_table(folder / "t.csv").series.at(0).points.at(0).ns, 1e6);
  write_file(folder / "us.toml",
             "op = \"gemm\"\ntime = \"latency\"\nunit = \"us\"\n"
             "[[parameter]]\nname = \"m\"\ncolumn = \"m\"\noffset = 2\n"
             "[[parameter]]\nname = \"n\"\ncolumn = \"n\"\n"
             "[[parameter]]\nname = \"k\"\ncolumn = \"k\"\n"
             "[[parameter]]\nname = \"src_dtype\"\ncolumn = \"gemm_dtype\"\n"
             "[[parameter]]\nname = \"wei_dtype\"\nvalue = \"bf16\"\n"
             "[[parameter]]\nname = \"dst_dtype\"\nvalue = \"f32\"\n");
  const ImportedTable own = read_kernel_table(folder / "t.csv", folder / "us.toml");
  ASSERT_EQ(own.series.size(), 1u);
  EXPECT_EQ(own.series[0].identity.other, "") << "no series is named";
  EXPECT_DOUBLE_EQ(point_of(own).ns, 1e3);
  EXPECT_EQ(point_of(own).problem.params.at("m"), 3);
  EXPECT_EQ(point_of(own).problem.params.dtype("dst_dtype"), Dtype::f32);
  write_file(folder / "other.csv", "a,b\n1,2\n");
  const Error error = error_of([&] { read_kernel_table(folder / "other.csv"); });
  says(error.line(), "other.csv:1");
  says(error.line(), "fit no known layout");
}

// Each published layout, told apart by its columns alone; offset of keys, windows and types as its
// collector writes them.
TEST(KernelTableFile, layouts_are_told_apart_by_their_columns) {
  const ImportedTable prefill = table_of(
      "batch_size,num_heads,num_key_value_heads,head_dim,isl,window_size,attn_dtype,"
      "kv_cache_dtype,latency\n2,32,8,128,512,256,half,fp8,0.5\n");
  const Params& params = prefill.series.at(0).points.at(0).problem.params;
  expect_params(params, {{"batch", 2},
                         {"heads", 32},
                         {"kv_heads", 8},
                         {"head_dim", 128},
                         {"new_tokens", 512},
                         {"context", 512},
                         {"causal", 1},
                         {"window", 256}});
  EXPECT_EQ(params.dtype("q_dtype"), Dtype::f16);
  EXPECT_EQ(params.dtype("kv_dtype"), Dtype::f8_e4m3fn);
  EXPECT_EQ(params.dtype("dst_dtype"), Dtype::bf16);
}

}  // namespace
}  // namespace halmark
