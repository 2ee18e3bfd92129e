#include "plan/device/device_query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../error_of.hpp"

namespace halmark {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> chosen(const DeviceQuery& query) {
  Device small{.id = "small", .kind = "gpu", .memory_bytes = 24'000'000'000};
  small.vendor = "A";
  small.power_w = 72;
  small.bandwidths = {{.level = "memory", .bytes_per_s = 3e11}};
  Device large{.id = "large", .kind = "gpu", .memory_bytes = 80'000'000'000};
  large.vendor = "B";
  large.bandwidths = {{.level = "memory", .bytes_per_s = 3e12}};
  large.peaks = {{.path = "f8_e4m3fn_matrix", .dtype = Dtype::f8_e4m3fn, .flops_per_s = 2e15}};
  Device odd{.id = "odd", .kind = "cpu"};
  odd.vendor = "A";
  std::vector<std::string> out;
  for (const Device& d : select_devices({large, odd, small}, query)) out.push_back(d.id);
  return out;
}

TEST(DeviceQuery, filters_by_figures_and_words) {
  EXPECT_THAT(chosen({.where = "memory_bytes >= 80e9", .sort = ""}), ElementsAre("large"));
  EXPECT_THAT(chosen({.where = "memory_bytes < 80e9 and vendor == \"A\"", .sort = ""}),
              ElementsAre("small"));
  EXPECT_THAT(chosen({.where = "kind in {\"cpu\"}", .sort = ""}), ElementsAre("odd"));
}

// What a device does not state is neither small nor large.
TEST(DeviceQuery, an_absent_figure_fits_no_condition_on_it) {
  EXPECT_THAT(chosen({.where = "power_w < 100", .sort = ""}), ElementsAre("small"));
  EXPECT_THAT(chosen({.where = "power_w >= 100", .sort = ""}), ElementsAre());
  EXPECT_THAT(chosen({.where = "fp8 > 1e15", .sort = ""}), ElementsAre("large"));
}

TEST(DeviceQuery, sorts_numbers_from_the_largest_and_words_from_a) {
  EXPECT_THAT(chosen({.where = "", .sort = "bandwidth"}), ElementsAre("large", "small", "odd"));
  EXPECT_THAT(chosen({.where = "", .sort = "vendor"}), ElementsAre("odd", "small", "large"));
}

TEST(DeviceQuery, names_the_nearest_figure) {
  EXPECT_THAT(error_of([] { (void)chosen({.where = "", .sort = "bandwith"}); }).line(),
              HasSubstr("bandwidth"));
  EXPECT_EQ(error_of([] { (void)chosen({.where = "memory_byte > 1", .sort = ""}); }).exit_code(),
            ExitCode::refused);
  EXPECT_EQ(error_of([] { (void)chosen({.where = "memory_bytes >", .sort = ""}); }).exit_code(),
            ExitCode::refused);
}

}  // namespace
}  // namespace halmark
