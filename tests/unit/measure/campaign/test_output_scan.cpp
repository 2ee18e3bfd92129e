#include "measure/campaign/gate/output_scan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/case_name.hpp"

namespace halmark {
namespace {

std::vector<std::byte> written(Dtype dtype, std::int64_t count, double value) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(dtype_bytes(dtype, count)));
  for (std::int64_t i = 0; i < count; ++i) store_element(dtype, bytes.data(), i, value);
  return bytes;
}

class FloatingScan : public testing::TestWithParam<Dtype> {};

TEST_P(FloatingScan, finds_the_first_unwritten_nan_or_infinite_element) {
  const Dtype dtype = GetParam();
  auto bytes = written(dtype, 3000, 1.5);
  EXPECT_EQ(scan_output(dtype, bytes).defect, OutputDefect::none);

  const auto width = static_cast<std::size_t>(dtype_bits(dtype) / 8);
  store_element(dtype, bytes.data(), 2500, std::numeric_limits<double>::infinity());
  EXPECT_EQ(scan_output(dtype, bytes).defect, OutputDefect::infinite);
  EXPECT_EQ(scan_output(dtype, bytes).element, 2500);

  store_element(dtype, bytes.data(), 2000, std::nan(""));
  EXPECT_EQ(scan_output(dtype, bytes).defect, OutputDefect::not_a_number);
  EXPECT_EQ(scan_output(dtype, bytes).element, 2000);

  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(1500 * width), width, std::byte{0xff});
  EXPECT_EQ(scan_output(dtype, bytes).defect, OutputDefect::unwritten);
  EXPECT_EQ(scan_output(dtype, bytes).element, 1500);
}

INSTANTIATE_TEST_SUITE_P(Types, FloatingScan,
                         testing::Values(Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16),
                         [](const auto& info) {
                           return test::case_name({dtype_name(info.param)});
                         });

TEST(IntegerScan, minus_one_is_a_value_but_sixteen_poisoned_bytes_are_not) {
  auto bytes = written(Dtype::s32, 100, 7);
  store_element(Dtype::s32, bytes.data(), 10, -1);
  EXPECT_EQ(scan_output(Dtype::s32, bytes).defect, OutputDefect::none);
  for (int i = 40; i < 44; ++i) store_element(Dtype::s32, bytes.data(), i, -1);
  EXPECT_EQ(scan_output(Dtype::s32, bytes).defect, OutputDefect::unwritten);
  EXPECT_EQ(scan_output(Dtype::s32, bytes).element, 40);
}

}  // namespace
}  // namespace halmark
