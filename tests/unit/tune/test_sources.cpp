// What a user names as sources of times: which of them make a chain, and which refuse each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tune/plan/kernel_cases.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {
namespace {

using test::error_of;
using testing::HasSubstr;

const Folders devices = {HALMARK_SOURCE_DIR "/configs/devices"};

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
  EXPECT_THAT(error_of([&] { target_device(choice, devices); }).what(), HasSubstr("need a device"));
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
  EXPECT_THAT(error_of([] { priced(choice_of({"measured"})); }).what(),
              HasSubstr("is this machine, not h100-sxm"));
  EXPECT_THAT(error_of([] { priced(choice_of({"interpolated"})); }).what(),
              HasSubstr("nothing to lie between"));
}

TEST(PricedLatencies, a_table_of_another_device_needs_interpolation) {
  const test::ScratchFolder folder;
  const std::string table = folder / "gemm.csv";
  std::ofstream(table) << "gemm_dtype,m,n,k,latency\nbfloat16,64,1024,2048,0.05\n"
                          "bfloat16,128,1024,2048,0.06\n";
  LatencyChoice choice = choice_of({"imported:" + table});
  EXPECT_TRUE(priced(choice).chain.has(SourceKind::imported));
  choice.tables_device = "a100";
  EXPECT_THAT(error_of([&] { priced(choice); }).what(), HasSubstr("hold no time of h100-sxm"));
  choice.sources.push_back("interpolated");
  const PricedLatencies carried = priced(choice);
  EXPECT_FALSE(carried.chain.has(SourceKind::imported));
  EXPECT_TRUE(carried.chain.has(SourceKind::interpolated));
  EXPECT_THAT(carried.sources[0], HasSubstr("carried over by interpolation only"));
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
  EXPECT_THAT(error_of([] { kernel_cases({.op = "gem", .dtypes = {"f32"}}); }).remedy(),
              HasSubstr("gemm"));
  EXPECT_THAT(error_of([] {
                kernel_cases({.op = "gemm", .params = "m=1,n=1,k=1", .dtypes = {"bf17"}});
              }).remedy(),
              HasSubstr("bf16"));
}

}  // namespace
}  // namespace halmark::tune
