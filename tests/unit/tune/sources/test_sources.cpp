// What a user names as sources of times: which of them make a chain, and which refuse each other.
#include <gmock/gmock.h>

#include <fstream>

#include "kernels/contract.hpp"
#include "latency/imported/imported_source.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tune/plan/kernel_cases.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {
namespace {

using halmark::test::expect_error;
using test::error_of;
using testing::HasSubstr;

const Folders devices = {halmark::test::in_source("/configs/devices")};

PricedLatencies priced(const LatencyChoice& choice) {
  return priced_latencies(choice, target_device(choice, devices), devices, std::nullopt);
}

LatencyChoice choice_of(std::vector<std::string> sources) {
  return {.sources = std::move(sources), .where = "--latency", .device = "h100-sxm"};
}

TEST(LatencyChoice, the_command_line_goes_before_the_sweep) {
  Sweep sweep;
  sweep.latency = {"roofline"};
  sweep.latency_where = "s.toml:3";
  sweep.serving_devices.file = "h200";
  const LatencyChoice from_sweep = latency_choice(sweep, {});
  EXPECT_EQ(from_sweep.where, "s.toml:3");
  EXPECT_EQ(from_sweep.device, "h200");
  const LatencyChoice given =
      latency_choice(sweep, {.sources = {"interpolated"}, .device = "h100-sxm"});
  EXPECT_EQ(given.sources, std::vector<std::string>{"interpolated"});
  EXPECT_EQ(given.where, "--latency");
  EXPECT_EQ(given.device_where, "--device-file");
}

TEST(LatencyChoice, a_target_must_be_named_and_known) {
  LatencyChoice choice = choice_of({"roofline"});
  EXPECT_EQ(target_device(choice, devices).id, "h100-sxm");
  choice.device = "h100-sxn";
  choice.device_where = "s.toml:9";
  const Error unknown = error_of([&] { target_device(choice, devices); });
  EXPECT_EQ(unknown.where(), "s.toml:9");
  EXPECT_THAT(unknown.remedy(), HasSubstr("h100-sxm"));
  choice.device.clear();
  expect_error([&] { target_device(choice, devices); }, "need a device");
}

TEST(PricedLatencies, a_roofline_says_that_it_is_no_expectation) {
  const PricedLatencies latencies = priced(choice_of({"roofline"}));
  EXPECT_TRUE(latencies.chain.has(SourceKind::roofline));
  EXPECT_FALSE(latencies.chain.has(SourceKind::imported));
  ASSERT_EQ(latencies.sources.size(), 1u);
  EXPECT_THAT(latencies.sources[0], HasSubstr("not an expectation"));
  EXPECT_GT(latencies.transfer_bytes_per_s.value_or(0), 0) << "the link of the device";
}

TEST(PricedLatencies, sources_that_cannot_answer_are_refused) {
  expect_error([] { priced(choice_of({"measured"})); }, "is this machine, not h100-sxm");
  expect_error([] { priced(choice_of({"interpolated"})); }, "nothing to lie between");
}

TEST(PricedLatencies, a_table_of_another_device_needs_a_transfer) {
  const test::ScratchFolder folder;
  const std::string table = folder / "gemm.csv";
  std::ofstream(table) << "gemm_dtype,m,n,k,latency\nbfloat16,64,1024,2048,0.05\n"
                          "bfloat16,128,1024,2048,0.06\n";
  LatencyChoice choice = choice_of({"imported:" + table});
  EXPECT_TRUE(priced(choice).chain.has(SourceKind::imported));
  choice.tables_device = "a100";
  expect_error([&] { priced(choice); }, "hold no time of h100-sxm");
  for (const char* source : {"interpolated", "transferred"}) {
    choice.sources = {"imported:" + table, source};
    const PricedLatencies carried = priced(choice);
    EXPECT_FALSE(carried.chain.has(SourceKind::imported));
    EXPECT_TRUE(carried.chain.has(SourceKind::transferred));
    EXPECT_TRUE(carried.tables.at(0).passed_over.empty());
  }
  choice.sources = {"transferred"};
  expect_error([&] { priced(choice); }, "nothing to carry over");
}

// Files of the layout of custom all-reduce: two launches of one kernel share their keys.
const char* const all_reduce_table =
    "framework,device,op_name,kernel_source,allreduce_dtype,num_gpus,message_size,latency,backend\n"
    "vLLM,NVIDIA H100 80GB HBM3,all_reduce,custom_graph,bfloat16,2,65536,0.0143,graph\n"
    "vLLM,NVIDIA H100 80GB HBM3,all_reduce,custom_eager,bfloat16,2,65536,0.0306,eager\n"
    "vLLM,NVIDIA H100 80GB HBM3,all_reduce,custom_eager,bfloat16,2,131072,0.0406,eager\n";

class Tables : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  static std::optional<Latency> all_reduce(const PricedLatencies& latencies, std::int64_t elements,
                                           Dtype dtype) {
    const Problem problem{
        "all_reduce",
        {{"bytes", 2 * elements}, {"ranks", 2}, {"dtype", static_cast<std::int64_t>(dtype)}}};
    return latencies.chain.latency(problem, find_contract("all_reduce")->work(problem.params));
  }
  test::ScratchFolder folder_;
};

TEST_F(Tables, the_first_series_speaks_and_the_other_is_said_to_be_passed_over) {
  const PricedLatencies latencies =
      priced(choice_of({"imported:" + write("t.csv", all_reduce_table)}));
  const auto first = all_reduce(latencies, 65536, Dtype::bf16);
  ASSERT_TRUE(first);
  EXPECT_DOUBLE_EQ(first->ns, 14300);
  EXPECT_EQ(first->origin, "t.csv: all_reduce bf16 custom_graph graph");
  EXPECT_EQ(first->where, "t.csv:2");
  EXPECT_DOUBLE_EQ(all_reduce(latencies, 131072, Dtype::bf16)->ns, 40600);
  const TableUse use = latencies.table_use().at(0);
  ASSERT_EQ(use.series.size(), 2u);
  EXPECT_EQ(use.series[0].exact, 1u);
  EXPECT_EQ(use.series[1].exact, 1u);
  EXPECT_EQ(use.series[1].points, 2u);
  EXPECT_EQ(use.series[1].passed_over, 1u);
  EXPECT_EQ(use.series[1].reason, first->origin + " goes first");
}

TEST_F(Tables, a_chosen_series_leaves_the_others_of_its_kernels_out) {
  LatencyChoice choice = choice_of({"imported:" + write("t.csv", all_reduce_table)});
  choice.series = {"CUSTOM_EAGER"};
  const PricedLatencies latencies = priced(choice);
  EXPECT_DOUBLE_EQ(all_reduce(latencies, 65536, Dtype::bf16)->ns, 30600);
  const TableUse use = latencies.table_use().at(0);
  EXPECT_EQ(use.series[0].passed_over, 1u);
  EXPECT_EQ(use.series[0].reason, "another series was chosen");
  choice.series = {"custom_eagre"};
  choice.series_where = "--series";
  const Error unknown = error_of([&] { priced(choice); });
  EXPECT_EQ(unknown.where(), "--series");
  EXPECT_THAT(unknown.remedy(), HasSubstr("'custom_eager'"));
}

TEST_F(Tables, a_16_bit_collective_is_found_whatever_its_type_is_called) {
  const PricedLatencies latencies = priced(choice_of(
      {"imported:" + write("n.csv",
                           "op_name,nccl_dtype,num_gpus,message_size,latency\n"
                           "all_reduce,half,2,65536,0.02\nall_reduce,int8,2,131072,0.03\n")}));
  EXPECT_DOUBLE_EQ(all_reduce(latencies, 65536, Dtype::bf16)->ns, 20000);
  EXPECT_DOUBLE_EQ(all_reduce(latencies, 65536, Dtype::f16)->ns, 20000);
  EXPECT_FALSE(all_reduce(latencies, 65536, Dtype::f32));
}

TEST_F(Tables, files_of_one_name_are_told_apart_and_the_first_goes_first) {
  const std::string header = "gemm_dtype,m,n,k,latency\n";
  std::filesystem::create_directory(folder_ / "a");
  std::filesystem::create_directory(folder_ / "b");
  const std::string a = write("a/t.csv", header + "bfloat16,64,1024,2048,0.05\n");
  const std::string b = write("b/t.csv", header + "bfloat16,64,1024,2048,0.07\n");
  const std::vector<TableUse> use =
      priced(choice_of({"imported:" + a, "imported:" + b})).table_use();
  ASSERT_EQ(use.size(), 2u);
  EXPECT_EQ(use[0].name, "a/t.csv");
  EXPECT_EQ(use[1].name, "b/t.csv");
  EXPECT_EQ(use[1].series.at(0).passed_over, 1u);
  EXPECT_EQ(use[1].series.at(0).reason, "a/t.csv: gemm bf16 goes first");
}

TEST_F(Tables, a_table_that_states_another_device_is_passed_over) {
  const std::string header = "device,gemm_dtype,m,n,k,latency\n";
  const std::string l40s = write("l.csv", header + "NVIDIA L40S,bfloat16,64,1024,2048,0.05\n");
  const std::string h100 =
      write("h.csv", header + "NVIDIA H100 80GB HBM3,bfloat16,64,1024,2048,0.05\n");
  const PricedLatencies latencies = priced(choice_of({"imported:" + l40s, "imported:" + h100}));
  EXPECT_THAT(latencies.tables.at(0).passed_over, HasSubstr("NVIDIA L40S, not h100-sxm"));
  EXPECT_EQ(latencies.tables.at(0).rows, 1u);
  EXPECT_TRUE(latencies.tables.at(1).passed_over.empty());
  expect_error([&] { priced(choice_of({"imported:" + l40s})); }, "give no time at all");
}

TEST_F(Tables, rows_that_nobody_can_use_are_counted_with_their_reason) {
  const std::string table = write("g.csv",
                                  "gemm_dtype,m,n,k,latency\nsq,64,1024,2048,0.05\n"
                                  "bfloat16,64,1024,2048,0.05\n");
  const TableUse use = priced(choice_of({"imported:" + table})).table_use().at(0);
  EXPECT_EQ(use.rows, 2u);
  EXPECT_EQ(use.skipped.at("no data type 'sq'"), 1u);
}

TEST_F(Tables, a_hundred_thousand_rows_take_150_bytes_each) {
  std::string text = "gemm_dtype,m,n,k,latency\n";
  constexpr std::size_t rows = 100'000;
  for (std::size_t i = 0; i < rows; ++i) {
    text +=
        "bfloat16," + std::to_string(i + 1) + ',' + std::to_string(64 + i % 900) + ",2048,0.05\n";
  }
  ImportedSource source({});
  source.add(read_kernel_table(write("g.csv", text)));
  EXPECT_EQ(source.size(), rows);
  EXPECT_LE(source.bytes(), 150 * rows);
}

TEST(KernelCases, the_contract_completes_what_was_not_named) {
  const std::vector<KernelCase> cases =
      kernel_cases({.op = "gemm", .params = "m=[1,2],n=4,k=8", .dtypes = {"bf16", "s8"}});
  ASSERT_EQ(cases.size(), 4u);
  const auto dst = [&](std::size_t i) {
    return static_cast<Dtype>(cases[i].problem.params.at("dst_dtype"));
  };
  EXPECT_NE(dst(0), Dtype::s32);
  EXPECT_EQ(dst(2), Dtype::s32) << "s8 products accumulate in s32";
}

TEST(KernelCases, ranks_of_a_collective_are_shards_of_their_own) {
  const std::vector<KernelCase> cases =
      kernel_cases({.op = "all_reduce", .params = "bytes=4096,ranks=2", .dtypes = {"f32"}});
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].shards_at_once, 2);
  EXPECT_EQ(cases[0].parts, 2);
}

TEST(KernelCases, what_is_unknown_is_refused_with_the_nearest_name) {
  expect_error([] { kernel_cases({.op = "gem", .dtypes = {"f32"}}); }, "gemm");
  expect_error([] { kernel_cases({.op = "gemm", .params = "m=1,n=1,k=1", .dtypes = {"bf17"}}); },
               "bf16");
}

}  // namespace
}  // namespace halmark::tune
