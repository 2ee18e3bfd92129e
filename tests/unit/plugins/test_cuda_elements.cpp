// Conversions of the CUDA backend's device code, as the host compiles them: against the definition
// of rounding, among the neighbours of the result.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "device/elements.hpp"

namespace {

using hm_cuda::bf16;
using hm_cuda::f16;
using hm_cuda::from_float;
using hm_cuda::to_float;

// The value of 16 bits by the formula of its format; finite ones only.
double by_formula(std::uint16_t bits, int mantissa_bits, int bias) {
  const int exponent_bits = 15 - mantissa_bits;
  const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  const double value =
      exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return (bits & 0x8000u) != 0 ? -value : value;
}

template <class T>
class CudaElements : public testing::Test {};

struct Bf16 {
  using type = bf16;
  static constexpr int mantissa_bits = 7, bias = 127;
  static constexpr std::uint16_t infinity = 0x7f80;
};
struct F16 {
  using type = f16;
  static constexpr int mantissa_bits = 10, bias = 15;
  static constexpr std::uint16_t infinity = 0x7c00;
};
using Formats = testing::Types<Bf16, F16>;
TYPED_TEST_SUITE(CudaElements, Formats);

TYPED_TEST(CudaElements, every_finite_value_is_what_its_bits_say_and_comes_back) {
  for (unsigned bits = 0; bits < 0x10000u; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if ((half & 0x7fffu) >= TypeParam::infinity) continue;
    const typename TypeParam::type value{half};
    EXPECT_EQ(to_float(value), by_formula(half, TypeParam::mantissa_bits, TypeParam::bias));
    EXPECT_EQ(from_float<typename TypeParam::type>(to_float(value)).bits, half);
  }
}

TYPED_TEST(CudaElements, rounding_goes_to_the_nearest_and_ties_to_even) {
  const auto value_of = [](int bits) {
    return by_formula(static_cast<std::uint16_t>(bits), TypeParam::mantissa_bits, TypeParam::bias);
  };
  std::mt19937 random(7);
  std::uniform_int_distribution<int> any(1, TypeParam::infinity - 2);
  for (int i = 0; i < 20000; ++i) {
    const int low = any(random);
    const double below = value_of(low), above = value_of(low + 1), middle = (below + above) / 2;
    const double part = std::uniform_real_distribution<double>(0, 1)(random);
    const float x = static_cast<float>(below + part * (above - below));
    const int nearest = x < middle ? low : x > middle ? low + 1 : low + low % 2;
    EXPECT_EQ(from_float<typename TypeParam::type>(x).bits, nearest) << x;
    EXPECT_EQ(from_float<typename TypeParam::type>(-x).bits, nearest | 0x8000) << x;
    const float tie = static_cast<float>(middle);
    if (static_cast<double>(tie) == middle) {
      EXPECT_EQ(from_float<typename TypeParam::type>(tie).bits, low + low % 2) << tie;
    }
  }
}

TEST(CudaF8, every_finite_value_is_what_its_bits_say) {
  for (unsigned bits = 0; bits < 0x100u; ++bits) {
    if ((bits & 0x7fu) == 0x7fu) continue;  // NaN
    const double fraction = (bits & 7u) / 8.0;
    const int exponent = static_cast<int>(bits >> 3 & 15u);
    const double value =
        exponent == 0 ? std::ldexp(fraction, -6) : std::ldexp(1 + fraction, exponent - 7);
    const hm_cuda::f8_e4m3 stored{static_cast<std::uint8_t>(bits)};
    EXPECT_EQ(to_float(stored), (bits & 0x80u) != 0 ? -value : value) << bits;
  }
}

TYPED_TEST(CudaElements, what_is_no_number_stays_none) {
  EXPECT_TRUE(std::isnan(to_float(from_float<typename TypeParam::type>(std::nanf("")))));
  EXPECT_EQ(from_float<typename TypeParam::type>(HUGE_VALF).bits, TypeParam::infinity);
}

}  // namespace
