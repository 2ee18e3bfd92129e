// Kernels of one device as one side of a comparison, against times and counts by hand. A device of
// 1e15 FLOP/s, 1e12 bytes/s of memory and links of 1e11 bytes/s.
#include "latency/sides/side_kernels.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

Device side_device() {
  return device_of("made-up", 1e15, 1e12, {{.name = "link", .bytes_per_s = 1e11}});
}

Measurement row(const Problem& problem, double ns, const std::string& kernel = "a") {
  KernelCase of{.problem = problem, .kernel = kernel, .backend = "made-up"};
  of.mode = CacheMode::rotate_const;
  of.sets = 1000;  // far beyond any cache
  return row_of(of, ns);
}

// 2 x 1000^3 FLOPs take 2 us at the peak, 2 MB of weights 2 us from memory.
TEST(SideKernels, a_measured_kernel_has_its_time_its_least_times_and_what_its_contract_counts) {
  const Device d = side_device();
  const std::vector rows{row(gemm(1000), 5000)};
  const SideKernels side = measured_kernels(rows, {.device = &d});
  ASSERT_EQ(side.kernels.size(), 1u);
  const DeviceKernel& k = side.kernels[0];
  EXPECT_EQ(k.problem, gemm(1000));
  EXPECT_EQ(k.dtype, "bf16");
  EXPECT_EQ(k.ns, 5000);
  EXPECT_TRUE(k.has_interval);
  EXPECT_LT(k.interval_ns.low, 5000);
  EXPECT_GT(k.interval_ns.high, 5000);
  EXPECT_EQ(k.matmul_flops, 2e9);
  EXPECT_EQ(k.bytes, 6e6);
  EXPECT_DOUBLE_EQ(k.peak_ns, 2000);
  EXPECT_DOUBLE_EQ(k.least.compute_ns, 2000);
  EXPECT_DOUBLE_EQ(k.least.memory_ns, 2000);
  EXPECT_EQ(k.least.link_ns, 0);
  EXPECT_TRUE(side.left_out.empty());
}

TEST(SideKernels, of_several_kernels_of_a_problem_the_fastest_counts) {
  const std::vector rows{row(gemm(8, 64, 64), 700, "a"), row(gemm(8, 64, 64), 500, "b"),
                         row(gemm(8, 64, 64), 600, "c"), row(gemm(9, 64, 64), 900, "a")};
  const SideKernels side = measured_kernels(rows, {});
  ASSERT_EQ(side.kernels.size(), 2u);
  EXPECT_EQ(side.kernels[0].ns, 500);
  EXPECT_EQ(side.kernels[1].ns, 900);
  EXPECT_EQ(side.kernels[0].peak_ns, 0) << "no device";
  EXPECT_EQ(side.kernels[0].least.bound_ns(), 0);
}

TEST(SideKernels, rows_that_say_nothing_of_a_whole_device_are_counted_by_their_reason) {
  const Device d = side_device();
  std::vector<Measurement> rows(6, row(gemm(1000), 5000));
  rows[0].status = Status::crashed;
  rows[1].kernel_case.parts = 2;
  rows[2].kernel_case.shards_at_once = 2;
  rows[3].kernel_case.mode = CacheMode::hot;
  rows[4] = row(gemm(1000), 1900, "impossible");  // 2,000 at least
  const SideKernels side = measured_kernels(rows, {.device = &d});
  ASSERT_EQ(side.kernels.size(), 1u);
  EXPECT_EQ(side.kernels[0].ns, 5000);
  EXPECT_THAT(side.left_out, testing::UnorderedElementsAre(
                                 Pair("status crashed", 1), Pair("of a part of the device", 2),
                                 Pair("constants not from memory: mode hot", 1),
                                 Pair("faster than the peaks of the device allow", 1)));
}

ImportedTable table() {
  ImportedTable out;
  out.skipped = {{"no layout", 3}};
  LatencyPoints slow, fast;
  slow.add({gemm(1000), 6000, 2});
  slow.add({gemm(2000), 9000, 3});
  fast.add({gemm(1000), 4000, 4});
  fast.add({gemm(4000), 7900, 5});  // 8,000 at least, 2 % of it forgiven
  fast.add({gemm(4096), 7900, 6});
  out.series = {{.identity = {}, .part = {}, .points = slow},
                {.identity = {}, .part = {}, .points = fast}};
  out.power_w = {{3, 450}, {2, 300}};
  return out;
}

TEST(SideKernels, of_a_table_the_fastest_series_counts_and_what_beats_the_bound_is_left_out) {
  const Device d = side_device();
  const SideKernels side = imported_kernels(table(), &d);
  ASSERT_EQ(side.kernels.size(), 3u);
  EXPECT_EQ(side.kernels[0].ns, 4000);
  EXPECT_EQ(side.kernels[0].power_w, std::nullopt) << "of another series' line";
  EXPECT_EQ(side.kernels[1].ns, 9000);
  EXPECT_EQ(side.kernels[1].power_w, 450);
  EXPECT_EQ(side.kernels[1].interval_ns.low, 9000);
  EXPECT_EQ(side.kernels[1].interval_ns.high, 9000);
  EXPECT_FALSE(side.kernels[1].has_interval);
  EXPECT_DOUBLE_EQ(side.kernels[1].peak_ns, 4000);
  EXPECT_EQ(side.kernels[2].ns, 7900);
  EXPECT_THAT(side.left_out,
              testing::UnorderedElementsAre(Pair("no layout", 3),
                                            Pair("faster than the peaks of the device allow", 1)));
  EXPECT_EQ(imported_kernels(table(), nullptr).kernels.size(), 4u) << "no device, no bound";
}

TEST(SideKernels, bounds_stand_in_where_nobody_measured) {
  const std::vector problems{gemm(1000), gemm(1), all_reduce(4)};
  const SideKernels side = bound_kernels(problems, side_device());
  ASSERT_EQ(side.kernels.size(), 3u);
  for (const DeviceKernel& k : side.kernels) {
    EXPECT_EQ(k.ns, k.least.bound_ns());
    EXPECT_EQ(k.interval_ns.low, k.ns);
    EXPECT_EQ(k.interval_ns.high, k.ns);
  }
  const auto sum = std::ranges::find(side.kernels, all_reduce(4), &DeviceKernel::problem);
  ASSERT_NE(sum, side.kernels.end());
  EXPECT_EQ(sum->bytes, 1.5 * (1 << 20)) << "what the bus of a rank moves";
  EXPECT_DOUBLE_EQ(sum->least.link_ns, 1.5 * (1 << 20) / 1e11 * 1e9);
  const auto row_of_one = std::ranges::find(side.kernels, gemm(1), &DeviceKernel::problem);
  ASSERT_NE(row_of_one, side.kernels.end());
  EXPECT_DOUBLE_EQ(row_of_one->ns, 2000) << "the weights alone";
}

TEST(SideKernels, what_nothing_bounds_is_left_out_with_its_reason) {
  Device d = side_device();
  d.links.clear();
  const auto f32 = number_of(Dtype::f32);
  const Problem copy = complete_problem({"copy", {{"bytes", 4096}}});
  const std::vector problems{gemm(8, 8, 8, f32), all_reduce(4), copy, gemm(8, 8, 8)};
  const SideKernels side = bound_kernels(problems, d);
  EXPECT_EQ(side.kernels.size(), 1u);
  EXPECT_THAT(side.left_out,
              testing::UnorderedElementsAre(
                  Pair("no peak for f32", 1), Pair("no link between devices is stated", 1),
                  Pair("nothing bounds it: its bytes may all lie in caches", 1)));
}

// Rows from 1 to 16,384 in octaves, two widths, each type; products of 8 bits sum up in s32.
TEST(SideKernels, plain_gemms_go_from_one_row_to_thousands) {
  const std::vector dtypes{Dtype::bf16, Dtype::s8};
  const auto problems = plain_gemms(dtypes);
  ASSERT_EQ(problems.size(), 2u * 15 * 2);
  for (const Problem& p : problems) {
    EXPECT_EQ(complete_problem(p).text(), p.text()) << "its contract takes it as it is";
    EXPECT_EQ(p.params.at("n"), p.params.at("k"));
    const bool is_integer = p.params.dtype("src_dtype") == Dtype::s8;
    EXPECT_EQ(p.params.dtype("dst_dtype"), is_integer ? Dtype::s32 : Dtype::bf16);
    EXPECT_EQ(p.params.dtype("wei_dtype"), p.params.dtype("src_dtype"));
    EXPECT_EQ(p.params.at("wei_trans"), 1);
  }
  EXPECT_EQ(problems.front().params.at("m"), 1);
  EXPECT_EQ(problems.back().params.at("m"), 16384);
  EXPECT_EQ(problems.front().params.at("n"), 4096);
  EXPECT_EQ(problems.back().params.at("n"), 8192);
}

}  // namespace
}  // namespace halmark
