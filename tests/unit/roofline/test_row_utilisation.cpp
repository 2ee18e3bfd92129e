#include "roofline/row_utilisation.hpp"

#include <gtest/gtest.h>

#include "roofline/ceilings.hpp"
#include "tests/unit/roofline/two_levels.hpp"

namespace halmark {
namespace {

// 1 Tflop/s bf16 on "amx", 0.1 on "avx512"; caches of 2 x 1 MB at 1e12 and memory at 1e10 bytes/s.
Device device() {
  Device d = test::two_levels();
  d.peaks.push_back({.path = "bf16_matrix",
                     .dtype = Dtype::bf16,
                     .isa = "amx",
                     .threads = 1,
                     .flops_per_s = 1e12});
  d.peaks.push_back({.path = "bf16_vector",
                     .dtype = Dtype::bf16,
                     .isa = "avx512",
                     .threads = 1,
                     .flops_per_s = 1e11});
  return d;
}

using test::bf16_work;

RowUtilisation of(const Work& work, const RowDevices& devices, std::string_view isa, double ns,
                  CacheMode mode = CacheMode::hot) {
  const roofline::Ceilings ceilings = devices.measured == nullptr
                                          ? roofline::Ceilings()
                                          : roofline::Ceilings(*devices.measured, devices.threads);
  return row_utilisation(work, ceilings.bound(work, roofline::traffic(work, mode, 1)), devices, isa,
                         ns);
}

TEST(RowUtilisation, mfu_uses_the_best_path_and_path_fraction_the_dispatched_one) {
  const Device d = device();
  // 1e9 FLOPs in 20 ms are 5e10 FLOP/s.
  const RowUtilisation u = of(bf16_work(1e9, 0, 0), {.measured = &d}, "avx512", 20e6);
  EXPECT_DOUBLE_EQ(u.flops_per_s, 5e10);
  EXPECT_DOUBLE_EQ(*u.mfu, 0.05);
  EXPECT_DOUBLE_EQ(*u.path_fraction, 0.5);
  EXPECT_DOUBLE_EQ(u.lower_bound_ns, 1e6);
  EXPECT_DOUBLE_EQ(*u.roofline_fraction, 0.05);
  EXPECT_EQ(u.limiter, Limiter::compute);
  EXPECT_FALSE(u.mfu_datasheet);
  EXPECT_TRUE(u.quarantine.empty());
}

TEST(RowUtilisation, an_unknown_path_has_no_path_fraction) {
  const Device d = device();
  const Work work = bf16_work(1e9, 0, 0);
  EXPECT_FALSE(of(work, {.measured = &d}, "", 20e6).path_fraction);
  EXPECT_FALSE(of(work, {.measured = &d}, "neon", 20e6).path_fraction);
}

TEST(RowUtilisation, work_without_matmul_has_a_roofline_fraction_but_no_mfu) {
  const Device d = device();
  Work work = bf16_work(0, 0, 1e8);
  work.vector_flops = 1e9;
  const RowUtilisation u = of(work, {.measured = &d}, "", 20e6, CacheMode::rotate_all);
  EXPECT_FALSE(u.mfu);
  EXPECT_FALSE(u.mfu_reason.empty());
  // (1e8 - 2e6 that two L2 capacities may keep) / 1e10 = 9.8 ms.
  EXPECT_NEAR(u.lower_bound_ns, 9.8e6, 1);
  EXPECT_EQ(u.limiter, Limiter::memory);
}

TEST(RowUtilisation, missing_peaks_are_absent_with_a_reason) {
  const RowUtilisation u = of(bf16_work(1e9, 0, 0), {}, "amx", 20e6);
  EXPECT_FALSE(u.mfu || u.path_fraction || u.roofline_fraction);
  EXPECT_FALSE(u.mfu_reason.empty());
  EXPECT_DOUBLE_EQ(u.flops_per_s, 5e10);
  EXPECT_EQ(u.lower_bound_ns, 0);
  EXPECT_EQ(u.limiter, Limiter::unknown);
  EXPECT_TRUE(of(bf16_work(1e9, 0, 0), {}, "", 1e-9).quarantine.empty());
}

TEST(RowUtilisation, the_datasheet_is_a_denominator_of_its_own) {
  const Device d = device();
  Device stated = device();
  stated.peaks.resize(1);
  stated.peaks[0].flops_per_s = 5e11;
  const RowUtilisation u =
      of(bf16_work(1e9, 0, 0), {.measured = &d, .datasheet = &stated}, "amx", 20e6);
  EXPECT_DOUBLE_EQ(*u.mfu, 0.05);
  EXPECT_DOUBLE_EQ(*u.mfu_datasheet, 0.1);
}

// 1e6 bytes read and 5e5 written in 1 ms.
TEST(RowUtilisation, bytes_per_second_counts_what_is_read_and_written) {
  Work work = bf16_work(0.5, 1e6, 5e5);
  const Device d = device();
  const RowUtilisation u = of(work, {.measured = &d}, "", 1e6);
  EXPECT_DOUBLE_EQ(u.bytes_per_s, 1.5e9);
  EXPECT_DOUBLE_EQ(*u.mfu, 5e2 / 1e12) << "half a FLOP is one, too";
  EXPECT_TRUE(u.mfu_reason.empty());
}

TEST(RowUtilisation, each_reason_names_what_is_missing) {
  const Device d = device();
  EXPECT_EQ(of(bf16_work(0, 1, 1), {.measured = &d}, "", 1).mfu_reason, "no matmul FLOPs");
  EXPECT_EQ(of(bf16_work(1, 1, 1), {}, "", 1).mfu_reason, "no measured peaks");
  Work other = bf16_work(1, 1, 1);
  other.compute_dtype = Dtype::f32;
  EXPECT_EQ(of(other, {.measured = &d}, "", 1).mfu_reason, "no measured peak for f32");
}

TEST(RowUtilisation, a_share_above_its_peak_is_said_in_four_digits) {
  EXPECT_EQ(fraction_of_peak(1.0, "p").value, 1.0);
  const auto above = fraction_of_peak(1.23456, "the peak");
  EXPECT_FALSE(above.value);
  EXPECT_EQ(above.failure, "123.5 % of the peak");
}

// Both sides of 102 % of a bound of 1 ms.
TEST(RowUtilisation, a_row_more_than_two_percent_below_its_bound_is_quarantined) {
  const Device d = device();
  const Work work = bf16_work(1e9, 0, 0);
  EXPECT_TRUE(of(work, {.measured = &d}, "amx", 1e6 / 1.019).quarantine.empty());
  const RowUtilisation u = of(work, {.measured = &d}, "amx", 1e6 / 1.021);
  EXPECT_TRUE(u.quarantine.starts_with("faster_than_roofline")) << u.quarantine;
}

}  // namespace
}  // namespace halmark
