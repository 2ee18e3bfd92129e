// Rows of measured kernels and winners, cell by cell.
// Rates of a measured kernel, and the limits beyond which a figure cannot be true.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "report/kernel_rates.hpp"
#include "report/views/kernel_views.hpp"
#include "report/views/winner_views.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::report {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// 1e6 FLOPs in 1 us: 1 TFLOP/s.
KernelPoint measured(const char* problem) {
  KernelPoint out{.op = "gemm",
                  .problem = problem,
                  .dtype = "f32",
                  .place = "cpu:0/2",
                  .mode = "hot:1",
                  .implementation = "brg -DM=4",
                  .rounds = 3,
                  .duration_ns = 1000,
                  .low_ns = 990,
                  .high_ns = 1020,
                  .matmul_flops = 1e6,
                  .bytes = 5e4};
  out.mfu = 0.25;
  out.path_fraction = 0.5;
  out.roofline_fraction = 0.75;
  out.bandwidth_share = 0.9;
  return out;
}

TEST(KernelRows, have_the_rate_of_their_work_and_every_share) {
  KernelPoint bytes = measured("gemm k=1 m=2");
  bytes.matmul_flops = 0;
  bytes.status = Status::suspect;
  bytes.reason = "steal";
  const std::string text = kernels_view(std::vector{measured("gemm k=1 m=1"), bytes}, false).text;
  EXPECT_THAT(text, HasSubstr("in every problem: gemm k=1\n"));
  EXPECT_THAT(text,
              test::has_lines({"in every row: device cpu:0/2, implementation brg\n",
                               "m=1 +1.00 us +990 ns .. 1.02 us +1.00 TFLOP/s +25.0 % +50.0 % "
                               "+75.0 % +90.0 %  ok\n",
                               "m=2 .* 50.0 GB/s .* suspect: steal\n"}));
  EXPECT_THAT(text, Not(HasSubstr("score")));
}

TEST(KernelRows, have_scores_where_one_has_and_say_what_is_absent) {
  KernelPoint best = measured("gemm m=1"), other = measured("gemm m=2");
  best.baseline = "onednn";
  best.score = 1.234;
  other.baseline = "onednn";
  other.score_reason = "no baseline";
  other.duration_ns.reset();
  other.bandwidth_share.reset();
  other.bandwidth_reason = "busy";
  other.reason = "gone";
  const View view = kernels_view(std::vector{best, other}, false);
  EXPECT_THAT(view.text, test::has_lines({"memory at +score +status", "m=1 .* 1.23  ok\n",
                                          "m=2 +- +- +- .* - +-  ok: gone\n"}));
  const Json& rows = view.data["rows"];
  EXPECT_THAT(rows, test::HasValues(R"({"/0/score": 1.234, "/1/score_reason": "no baseline",
      "/1/bandwidth_share_reason": "busy", "/0/device": "cpu:0/2", "/0/bound_ns": null})"));
  EXPECT_FALSE(rows[0].contains("score_reason"));
  EXPECT_FALSE(rows[0].contains("bandwidth_share_reason"));
  EXPECT_FALSE(rows[0].contains("mfu_reason"));
  best.lower_bound_ns = 0.5;
  EXPECT_EQ(kernels_view(std::vector{best}, false).data["rows"][0]["bound_ns"], 0.5);
}

TEST(KernelHeadline, is_the_share_of_the_peak_and_of_the_best_possible) {
  KernelPoint one = measured("gemm m=1"), other = measured("gemm m=2");
  one.limiter = Limiter::compute;
  EXPECT_EQ(kernels_headline(std::vector{one}),
            "gemm: 1.00 TFLOP/s, 25.0 % of the measured peak; 75.0 % of the best possible of these "
            "sizes, bound by compute\n");
  other.mfu = 0.5;
  other.roofline_fraction.reset();
  EXPECT_EQ(kernels_headline(std::vector{one, other}),
            "gemm, 2 rows: 25.0 % to 50.0 % of the measured peak; 75.0 % of the best possible of "
            "these sizes\n");
  KernelPoint copy = measured("copy bytes=1");
  copy.op = "copy";
  copy.matmul_flops = 0;
  copy.mfu.reset();
  copy.limiter = Limiter::memory;
  EXPECT_EQ(kernels_headline(std::vector{copy}),
            "copy: 50.0 GB/s, 75.0 % of the best possible of these sizes, bound by memory\n");
  one.mfu.reset();
  one.roofline_fraction.reset();
  one.mfu_reason = "no measured peaks";
  EXPECT_EQ(kernels_headline(std::vector{one}), "gemm: 1.00 TFLOP/s, no MFU: no measured peaks\n");
}

TEST(KernelHeadline, says_first_that_the_machine_is_busy_and_why_there_is_no_time) {
  KernelPoint busy = measured("gemm m=1");
  busy.clean_share = 0.27;
  EXPECT_THAT(kernels_headline(std::vector{busy}),
              testing::StartsWith("this machine is busy: interference from other processes in 73.0 "
                                  "% of the samples"));
  busy.clean_share = 0.9;
  EXPECT_THAT(kernels_headline(std::vector{busy}), testing::StartsWith("gemm: "));
  busy.duration_ns.reset();
  busy.reason = "signal 11";
  EXPECT_EQ(kernels_headline(std::vector{busy}), "no time: signal 11\n");
}

TEST(KernelHeadline, what_was_assumed_stands_behind_the_first_line) {
  View view{.text = "answer\nrest\n"};
  add_assumed(view, "");
  EXPECT_EQ(view.text, "answer\nrest\n");
  add_assumed(view, "--dtype f32");
  EXPECT_EQ(view.text, "answer\nassumed: --dtype f32\nrest\n");
  EXPECT_EQ(view.data["assumed"], "--dtype f32");
}

TEST(StoredWinners, are_a_row_each_with_the_run_that_they_are_of) {
  StoredWinner stored{.run = 7};
  Winner& w = stored.winner;
  w.question.problem = {"copy", {}};
  w.plugin_name = "cpu";
  w.plugin_hash = "0123456789";
  w.variants = {{.variant = {.kernel = "fast"}, .ns = 100, .interval_ns = {95, 105}},
                {.variant = {.kernel = "slow"}, .ns = 200}};
  w.variants[0].is_tied = true;
  w.chosen = {.kernel = "fast"};
  const View view = winners_view(std::vector{stored});
  EXPECT_THAT(view.text, ContainsRegex("fast +100 ns +95.0 ns .. 105 ns +1 of 2  cpu 01234567 +7  "
                                       "ok\n"));
  EXPECT_EQ(view.data["winners"][0]["run"], 7);
  w.chosen.is_default = true;
  EXPECT_THAT(winners_view(std::vector{stored}).text, HasSubstr("fast (the default)"));
}

// 1000 FLOPs and 500 bytes in 10 ns: 100 GFLOP/s, 50 GB/s.
KernelPoint measured_kernel() {
  KernelPoint kernel;
  kernel.dtype = "f32";
  kernel.duration_ns = 10;
  kernel.matmul_flops = 1000;
  kernel.bytes = 500;
  return kernel;
}

RunReport on_device(std::vector<Peak> peaks, std::vector<Bandwidth> bandwidths) {
  RunReport report;
  report.device = Device{.id = "cpu:0"};
  report.device->peaks = std::move(peaks);
  report.device->bandwidths = std::move(bandwidths);
  return report;
}

Peak peak_of(Dtype dtype, double flops_per_s) {
  return {.path = "vector", .dtype = dtype, .flops_per_s = flops_per_s};
}

TEST(KernelRates, are_work_by_time_in_seconds) {
  const KernelPoint kernel = measured_kernel();
  EXPECT_DOUBLE_EQ(flops_per_s(kernel).value(), 100e9);
  EXPECT_DOUBLE_EQ(bytes_per_s(kernel).value(), 50e9);
}

TEST(KernelRates, are_absent_without_time_or_work) {
  KernelPoint kernel = measured_kernel();
  kernel.matmul_flops = 0;
  EXPECT_EQ(flops_per_s(kernel), std::nullopt);
  EXPECT_TRUE(bytes_per_s(kernel).has_value());
  kernel = measured_kernel();
  kernel.bytes = 0;
  EXPECT_TRUE(flops_per_s(kernel).has_value());
  EXPECT_EQ(bytes_per_s(kernel), std::nullopt);
  for (const std::optional<double> time : {std::optional<double>(), std::optional<double>(0)}) {
    kernel = measured_kernel();
    kernel.duration_ns = time;
    EXPECT_EQ(flops_per_s(kernel), std::nullopt);
    EXPECT_EQ(bytes_per_s(kernel), std::nullopt);
    kernel.lower_bound_ns = 100;
    EXPECT_EQ(contradiction(kernel, RunReport()), "");
  }
}

TEST(KernelRates, two_percent_below_the_bound_are_allowed) {
  KernelPoint kernel = measured_kernel();
  kernel.lower_bound_ns = 10.19;
  EXPECT_EQ(contradiction(kernel, RunReport()), "");
  kernel.lower_bound_ns = 10.21;
  EXPECT_EQ(contradiction(kernel, RunReport()), "faster than its bound by 2.10 %");
}

TEST(KernelRates, two_percent_above_the_highest_peak_of_its_dtype_are_allowed) {
  const KernelPoint kernel = measured_kernel();
  const auto with_peak = [&](double flops) {
    return contradiction(kernel, on_device({peak_of(Dtype::f32, 10e9), peak_of(Dtype::f32, flops),
                                            peak_of(Dtype::bf16, 1e9)},
                                           {}));
  };
  EXPECT_EQ(with_peak(98.1e9), "");
  EXPECT_EQ(with_peak(80e9), "above the roof of 80.0 GFLOP/s by 25.0 %");
}

// Two FLOPs a byte: the faster of two levels, 40 GB/s, allows 80 GFLOP/s.
TEST(KernelRates, the_fastest_level_of_memory_bounds_too) {
  KernelPoint kernel = measured_kernel();
  const std::vector<Bandwidth> levels{{.level = "memory", .bytes_per_s = 1e9},
                                      {.level = "l2", .bytes_per_s = 40e9}};
  const std::string above = "above the roof of 80.0 GFLOP/s by 25.0 %";
  EXPECT_EQ(contradiction(kernel, on_device({}, levels)), above);
  EXPECT_EQ(contradiction(kernel, on_device({peak_of(Dtype::f32, 200e9)}, levels)), above);
  EXPECT_EQ(contradiction(kernel, on_device({peak_of(Dtype::f32, 50e9)}, levels)),
            "above the roof of 50.0 GFLOP/s by 100.0 %");
  kernel.bytes = 0;  // no intensity
  EXPECT_EQ(contradiction(kernel, on_device({}, levels)), "");
}

TEST(KernelRates, a_quarantined_kernel_gives_its_reason) {
  KernelPoint kernel = measured_kernel();
  kernel.status = Status::quarantined;
  EXPECT_EQ(contradiction(kernel, RunReport()), "quarantined");
  kernel.reason = "too fast";
  EXPECT_EQ(contradiction(kernel, RunReport()), "too fast");
}

}  // namespace
}  // namespace halmark::report
