#include <gmock/gmock.h>

#include "core/device.hpp"
#include "core/module.hpp"
#include "core/text/error.hpp"

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

// Of several counts below the nearest, of several above the nearest, and one below before any
// above.
TEST(DevicePeak, the_nearest_count_decides_and_one_below_goes_first) {
  Device device;
  for (const int threads : {2, 4, 16, 64}) {
    device.peaks.push_back(
        {.path = "p", .dtype = Dtype::f32, .threads = threads, .flops_per_s = 1000.0 + threads});
  }
  EXPECT_DOUBLE_EQ(device.peak(Dtype::f32, 8)->flops_per_s, 1004.0 * 8 / 4);
  EXPECT_DOUBLE_EQ(device.peak(Dtype::f32, 15)->flops_per_s, 1004.0 * 15 / 4) << "16 is above";
  EXPECT_DOUBLE_EQ(device.peak(Dtype::f32, 1)->flops_per_s, 1002.0 / 2);
  EXPECT_DOUBLE_EQ(device.peak(Dtype::f32, 900)->flops_per_s, 1064.0 * 900 / 64);
  device.peaks.push_back({.path = "p", .dtype = Dtype::f32, .threads = 0, .flops_per_s = 5});
  EXPECT_DOUBLE_EQ(device.peak(Dtype::f32, 0)->flops_per_s, 5) << "of the whole device";
  EXPECT_DOUBLE_EQ(device.peak(Dtype::f32, 3)->flops_per_s, 1002.0 * 3 / 2);
  // The path with the higher figure, where both were measured so.
  device.peaks.push_back({.path = "q", .dtype = Dtype::f32, .threads = 4, .flops_per_s = 9000});
  EXPECT_DOUBLE_EQ(device.peak(Dtype::f32, 4)->flops_per_s, 9000);
}

TEST(DevicePeak, accumulation_in_16_bits_and_accelerators_beside_are_no_general_peaks) {
  Device device;
  device.peaks = {{.path = "f16_fp16acc", .dtype = Dtype::f16, .flops_per_s = 4},
                  {.path = "s8_dla", .dtype = Dtype::s8, .flops_per_s = 4}};
  EXPECT_FALSE(device.peak(Dtype::f16, 0));
  EXPECT_FALSE(device.peak(Dtype::s8, 0));
  EXPECT_TRUE(device.path_peak(Dtype::s8, "", 0));
}

TEST(Device, is_called_by_its_id_and_aliases_whatever_their_separators) {
  const Device device{.id = "h100-sxm", .aliases = {"NVIDIA H100"}};
  for (const char* name : {"h100-sxm", "H100 SXM", "h100sxm", "nvidia_h100"}) {
    EXPECT_TRUE(device.is_called(name)) << name;
  }
  for (const char* name : {"", "-", "h100", "h100-sxm5"}) EXPECT_FALSE(device.is_called(name));
}

TEST(Device, confidence_has_a_word_where_it_is_stated) {
  EXPECT_EQ(confidence_name(Confidence::unstated), "");
  EXPECT_EQ(confidence_name(Confidence::low), "low");
  EXPECT_EQ(confidence_name(Confidence::medium), "medium");
  EXPECT_EQ(confidence_name(Confidence::high), "high");
}

TEST(Module, that_is_absent_is_named_with_what_to_do) {
  try {
    module_symbol("no_such_part", "f");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::unfit);
    EXPECT_THAT(error.line(), testing::AllOf(testing::HasSubstr("halmark_no_such_part.so"),
                                             testing::HasSubstr("reinstall halmark")));
  }
}

}  // namespace
}  // namespace halmark
