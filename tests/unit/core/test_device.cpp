#include "core/device.hpp"

#include <gtest/gtest.h>

namespace halmark {
namespace {

Device measured() {
  Device out;
  out.peaks = {
      {.path = "f32_vector", .dtype = Dtype::f32, .isa = "avx2", .threads = 1, .flops_per_s = 100},
      {.path = "f32_vector",
       .dtype = Dtype::f32,
       .isa = "avx512",
       .threads = 1,
       .flops_per_s = 160},
      {.path = "f32_vector",
       .dtype = Dtype::f32,
       .isa = "avx512",
       .threads = 4,
       .flops_per_s = 480},
      {.path = "bf16_matrix",
       .dtype = Dtype::bf16,
       .isa = "amx",
       .threads = 0,
       .flops_per_s = 2000}};
  out.bandwidths = {{.level = "memory", .threads = 1, .bytes_per_s = 10},
                    {.level = "memory", .threads = 4, .bytes_per_s = 24},
                    {.level = "l2", .threads = 1, .bytes_per_s = 50}};
  return out;
}

TEST(DevicePeak, the_exact_thread_count_wins_and_then_the_faster_path) {
  EXPECT_EQ(measured().peak(Dtype::f32, 1)->flops_per_s, 160);
  EXPECT_EQ(measured().peak(Dtype::f32, 4)->flops_per_s, 480);
}

TEST(DevicePeak, between_two_counts_the_one_below_is_scaled_up) {
  const auto two = measured().peak(Dtype::f32, 2);
  EXPECT_EQ(two->flops_per_s, 320);
  EXPECT_EQ(two->threads, 2);
  EXPECT_EQ(measured().peak(Dtype::f32, 8)->flops_per_s, 960);
}

TEST(DevicePeak, a_count_above_is_scaled_down_when_none_is_below) {
  Device device = measured();
  std::erase_if(device.peaks, [](const Peak& p) { return p.threads == 1; });
  EXPECT_EQ(device.peak(Dtype::f32, 1)->flops_per_s, 120);
}

TEST(DevicePeak, a_figure_of_the_whole_device_is_not_scaled) {
  EXPECT_EQ(measured().peak(Dtype::bf16, 2)->flops_per_s, 2000);
  EXPECT_EQ(measured().peak(Dtype::bf16, 0)->flops_per_s, 2000);
}

TEST(DevicePeak, an_unknown_type_or_path_has_none) {
  EXPECT_FALSE(measured().peak(Dtype::f16, 1));
  EXPECT_FALSE(measured().path_peak(Dtype::f32, "sse", 1));
  EXPECT_FALSE(Device{}.bandwidth("memory", 1));
}

TEST(DevicePeak, a_path_is_its_own_denominator) {
  EXPECT_EQ(measured().path_peak(Dtype::f32, "avx2", 1)->flops_per_s, 100);
  EXPECT_EQ(measured().path_peak(Dtype::f32, "avx2", 2)->flops_per_s, 200);
}

TEST(DeviceBandwidth, follows_level_and_threads) {
  EXPECT_EQ(measured().bandwidth("memory", 4)->bytes_per_s, 24);
  EXPECT_EQ(measured().bandwidth("memory", 3)->bytes_per_s, 30);
  EXPECT_EQ(measured().bandwidth("l2", 1)->bytes_per_s, 50);
  EXPECT_FALSE(measured().bandwidth("l1", 1));
}

}  // namespace
}  // namespace halmark
