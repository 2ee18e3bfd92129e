// Rates of a measured kernel, and the limits beyond which a figure cannot be true.
#include "report/kernel_rates.hpp"

#include <gtest/gtest.h>

namespace halmark::report {
namespace {

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
