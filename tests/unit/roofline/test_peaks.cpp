#include "roofline/peaks.hpp"

#include <gtest/gtest.h>

namespace halmark {
namespace {

// Of 4e12 with the threads that it was measured with; 0: a figure of the whole device.
TEST(ShardPeak, is_cut_where_the_figure_is_of_the_whole_device) {
  for (const auto& [threads, shard_threads, flops_per_s] :
       {std::tuple{4, 4, 4e12}, {4, 8, 8e12}, {1, 1, 4e12}, {0, 4, 2e12}}) {
    Device device;
    device.peaks = {{.path = "p", .dtype = Dtype::bf16, .threads = threads, .flops_per_s = 4e12}};
    EXPECT_DOUBLE_EQ(*shard_peak(device, Dtype::bf16, {.threads = shard_threads, .parts = 2}),
                     flops_per_s);
    EXPECT_FALSE(shard_peak(device, Dtype::f32, {}));
  }
}

TEST(MultiplyingDtype, of_several_wide_types_bf16_comes_first_then_f16_then_f32) {
  Device device;
  EXPECT_EQ(multiplying_dtype(device, Dtype::f4_e2m1), Dtype::f4_e2m1) << "nothing to fall back on";
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    device.peaks.push_back({.path = "p", .dtype = dtype, .flops_per_s = 1e12});
    EXPECT_EQ(multiplying_dtype(device, Dtype::f4_e2m1), dtype);
  }
}

TEST(ShardPeak, a_peak_of_nothing_is_none_and_a_small_one_is_one) {
  Device device;
  device.peaks = {{.path = "p", .dtype = Dtype::bf16, .flops_per_s = 0}};
  EXPECT_FALSE(shard_peak(device, Dtype::bf16, {}));
  device.peaks[0].flops_per_s = 0.5;
  EXPECT_EQ(shard_peak(device, Dtype::bf16, {}), 0.5);
}

TEST(MultiplyingDtype, four_bits_are_unpacked_into_the_first_wide_type_that_has_a_peak) {
  Device device;
  device.peaks = {{.path = "f16_matrix", .dtype = Dtype::f16, .flops_per_s = 1e12}};
  EXPECT_EQ(multiplying_dtype(device, Dtype::f4_e2m1), Dtype::f16);
  EXPECT_EQ(multiplying_dtype(device, Dtype::f8_e4m3fn), Dtype::f8_e4m3fn);
  device.peaks.push_back({.path = "f4_matrix", .dtype = Dtype::f4_e2m1, .flops_per_s = 4e12});
  EXPECT_EQ(multiplying_dtype(device, Dtype::f4_e2m1), Dtype::f4_e2m1);
}

}  // namespace
}  // namespace halmark
