#include "core/dtype.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "core/numeric/random.hpp"

namespace halmark {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double uniform(std::uint64_t seed, std::uint64_t i, double low, double high) {
  return low + (high - low) * uniform_01(hash_u64(seed, i));
}

// The tables of the formats, from their definitions alone: value = (-1)^s 2^(e-bias) 1.m.
double small_float(unsigned bits, int exponent_bits, int mantissa_bits, int bias) {
  const unsigned mantissa = bits & ((1u << mantissa_bits) - 1);
  const int exponent = static_cast<int>((bits >> mantissa_bits) & ((1u << exponent_bits) - 1));
  const double fraction = mantissa / std::pow(2.0, mantissa_bits);
  const double magnitude = exponent == 0 ? fraction * std::pow(2.0, 1 - bias)
                                         : (1 + fraction) * std::pow(2.0, exponent - bias);
  return (bits >> (exponent_bits + mantissa_bits)) & 1u ? -magnitude : magnitude;
}

struct Format {
  Dtype dtype;
  int exponent_bits, mantissa_bits, bias;
  unsigned first_special;  // positive patterns from here on are infinity or NaN
};

const Format f16{Dtype::f16, 5, 10, 15, 0x7c00};
const Format e4m3fn{Dtype::f8_e4m3fn, 4, 3, 7, 0x7f};
const Format e5m2{Dtype::f8_e5m2, 5, 2, 15, 0x7c};
const Format e4m3fnuz{Dtype::f8_e4m3fnuz, 4, 3, 8, 0x80};
const Format e5m2fnuz{Dtype::f8_e5m2fnuz, 5, 2, 16, 0x80};

// All finite values that are not negative; the index is the bit pattern.
std::vector<double> positive_values(const Format& format) {
  std::vector<double> out;
  for (unsigned bits = 0; bits < format.first_special; ++bits) {
    out.push_back(small_float(bits, format.exponent_bits, format.mantissa_bits, format.bias));
  }
  return out;
}

double load_bits(Dtype dtype, unsigned bits) {
  const auto two = static_cast<std::uint16_t>(bits);
  const auto one = static_cast<std::uint8_t>(bits);
  return dtype_bits(dtype) == 16 ? load_element(dtype, &two, 0) : load_element(dtype, &one, 0);
}

unsigned stored_bits(Dtype dtype, double value) {
  std::uint16_t out = 0;
  store_element(dtype, &out, 0, value);
  return out;
}

class SmallFloats : public testing::TestWithParam<Format> {};

TEST_P(SmallFloats, every_bit_pattern_loads_as_the_format_defines_and_stores_back) {
  const Format& format = GetParam();
  const unsigned sign = 1u << (format.exponent_bits + format.mantissa_bits);
  const std::vector<double> values = positive_values(format);
  for (unsigned bits = 0; bits < values.size(); ++bits) {
    ASSERT_EQ(load_bits(format.dtype, bits), values[bits]) << bits;
    ASSERT_EQ(stored_bits(format.dtype, values[bits]), bits);
    if (bits == 0) continue;
    ASSERT_EQ(load_bits(format.dtype, bits | sign), -values[bits]) << bits;
    ASSERT_EQ(stored_bits(format.dtype, -values[bits]), bits | sign);
  }
}

TEST_P(SmallFloats, rounding_goes_to_the_nearest_value_and_ties_to_the_even_pattern) {
  const Format& format = GetParam();
  const std::vector<double> values = positive_values(format);
  for (unsigned low = 0; low + 1 < values.size(); ++low) {
    const double a = values[low], b = values[low + 1], middle = (a + b) / 2;
    const double even = low % 2 == 0 ? a : b;
    ASSERT_EQ(round_to(format.dtype, middle), even) << middle;
    ASSERT_EQ(round_to(format.dtype, -middle), -even) << middle;
    ASSERT_EQ(round_to(format.dtype, std::nextafter(middle, 0)), a) << middle;
    ASSERT_EQ(round_to(format.dtype, std::nextafter(middle, inf)), b) << middle;
    ASSERT_EQ(round_to(format.dtype, a), a);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallFloats,
                         testing::Values(f16, e4m3fn, e5m2, e4m3fnuz, e5m2fnuz),
                         [](const auto& info) {
                           return std::string(dtype_name(info.param.dtype));
                         });

// The usual bit trick on the f32 pattern: add half of the last kept place, minus one when even.
double bf16_by_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u;
  return std::bit_cast<float>(rounded);
}

TEST(Dtype, bf16_rounds_as_the_bit_trick_does) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto bits = static_cast<std::uint32_t>(hash_u64(7, i));
    const auto value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(round_to(Dtype::bf16, value), bf16_by_bits(value)) << i;
    ASSERT_EQ(stored_bits(Dtype::bf16, value),
              std::bit_cast<std::uint32_t>(static_cast<float>(bf16_by_bits(value))) >> 16);
  }
  EXPECT_EQ(round_to(Dtype::bf16, 1.00390625), 1.0) << "tie to even, down";
  EXPECT_EQ(round_to(Dtype::bf16, 1.01171875), 1.015625) << "tie to even, up";
}

TEST(Dtype, f32_and_f64_round_as_the_compiler_does) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double value = std::ldexp(uniform(3, i, -1, 1), static_cast<int>(i % 290) - 150);
    ASSERT_EQ(round_to(Dtype::f32, value), static_cast<float>(value)) << value;
    ASSERT_EQ(round_to(Dtype::f64, value), value);
  }
}

TEST(Dtype, tf32_keeps_ten_bits_after_the_point) {
  EXPECT_EQ(round_to(Dtype::tf32, 1 + 0x1p-10), 1 + 0x1p-10);
  EXPECT_EQ(round_to(Dtype::tf32, 1 + 0x1p-11), 1.0);
  EXPECT_EQ(round_to(Dtype::tf32, 1 + 0x1p-11 + 0x1p-20), 1 + 0x1p-10);
}

TEST(Dtype, formats_with_infinity_overflow_and_the_others_saturate) {
  EXPECT_EQ(round_to(Dtype::f16, 65519.0), 65504.0);
  EXPECT_EQ(round_to(Dtype::f16, 65520.0), inf);
  EXPECT_EQ(stored_bits(Dtype::f16, -1e9), 0xfc00u);
  EXPECT_EQ(round_to(Dtype::f8_e5m2, 61439.0), 57344.0);
  EXPECT_EQ(round_to(Dtype::f8_e5m2, 61440.0), inf);
  EXPECT_EQ(stored_bits(Dtype::f8_e5m2, inf), 0x7cu);
  EXPECT_EQ(round_to(Dtype::bf16, 3.4e38), inf);
  EXPECT_EQ(round_to(Dtype::f32, 1e39), inf);
  EXPECT_EQ(round_to(Dtype::f8_e4m3fn, 1e9), 448.0);
  EXPECT_EQ(round_to(Dtype::f8_e4m3fn, -1e9), -448.0);
  EXPECT_EQ(round_to(Dtype::f8_e4m3fnuz, 1e9), 240.0);
  EXPECT_EQ(round_to(Dtype::f8_e5m2fnuz, 1e9), 57344.0);
  EXPECT_EQ(round_to(Dtype::f6_e3m2, 1e9), 28.0);
  EXPECT_EQ(round_to(Dtype::f6_e2m3, 1e9), 7.5);
  EXPECT_EQ(round_to(Dtype::f4_e2m1, -1e9), -6.0);
}

TEST(Dtype, infinity_saturates_where_the_format_has_none) {
  EXPECT_EQ(load_bits(Dtype::f8_e4m3fn, stored_bits(Dtype::f8_e4m3fn, inf)), 448.0);
  EXPECT_EQ(load_bits(Dtype::f8_e4m3fn, stored_bits(Dtype::f8_e4m3fn, -inf)), -448.0);
  EXPECT_EQ(round_to(Dtype::f4_e2m1, inf), 6.0);
}

TEST(Dtype, nan_survives_every_float_of_at_least_a_byte) {
  for (const Dtype dtype : all_dtypes()) {
    const bool is_complex = dtype == Dtype::c64 || dtype == Dtype::c128;
    if (is_integer(dtype) || is_complex || dtype_bits(dtype) < 8) continue;
    double room = 0;
    store_element(dtype, &room, 0, nan);
    EXPECT_TRUE(std::isnan(load_element(dtype, &room, 0))) << dtype_name(dtype);
  }
}

TEST(Dtype, the_fnuz_forms_have_one_zero) {
  EXPECT_EQ(stored_bits(Dtype::f8_e4m3fnuz, -0.0), 0u);
  EXPECT_EQ(stored_bits(Dtype::f8_e5m2fnuz, -1e-30), 0u);
  EXPECT_TRUE(std::isnan(load_bits(Dtype::f8_e4m3fnuz, 0x80)));
}

TEST(Dtype, e8m0_holds_powers_of_two_only) {
  for (unsigned bits = 0; bits < 255; ++bits) {
    const double value = std::pow(2.0, static_cast<int>(bits) - 127);
    ASSERT_EQ(load_bits(Dtype::f8_e8m0, bits), value);
    ASSERT_EQ(stored_bits(Dtype::f8_e8m0, value), bits);
  }
  EXPECT_EQ(round_to(Dtype::f8_e8m0, 5.0), 4.0);
  EXPECT_EQ(round_to(Dtype::f8_e8m0, 7.0), 8.0);
  EXPECT_EQ(round_to(Dtype::f8_e8m0, 0.0), 0x1p-127);
  EXPECT_EQ(round_to(Dtype::f8_e8m0, inf), 0x1p127);
}

struct Range {
  Dtype dtype;
  double low, high;
};

TEST(Dtype, integers_round_to_even_and_saturate) {
  for (const Range& r :
       {Range{Dtype::s8, -128, 127}, Range{Dtype::u8, 0, 255}, Range{Dtype::s16, -32768, 32767},
        Range{Dtype::u16, 0, 65535}, Range{Dtype::s32, -2147483648.0, 2147483647.0},
        Range{Dtype::u32, 0, 4294967295.0}, Range{Dtype::s4, -8, 7}, Range{Dtype::u4, 0, 15},
        Range{Dtype::s2, -2, 1}, Range{Dtype::u1, 0, 1}}) {
    EXPECT_EQ(round_to(r.dtype, 1e30), r.high) << dtype_name(r.dtype);
    EXPECT_EQ(round_to(r.dtype, -1e30), r.low) << dtype_name(r.dtype);
    EXPECT_EQ(round_to(r.dtype, inf), r.high);
    EXPECT_EQ(round_to(r.dtype, 0.5), 0) << "ties to even";
    EXPECT_EQ(round_to(r.dtype, nan), 0);
  }
  EXPECT_EQ(round_to(Dtype::s8, 2.5), 2);
  EXPECT_EQ(round_to(Dtype::s8, 3.5), 4);
  EXPECT_EQ(round_to(Dtype::s8, -2.5), -2);
}

TEST(Dtype, stored_integers_of_eight_bytes_stop_at_their_ends) {
  std::int64_t s = 0;
  std::uint64_t u = 0;
  store_element(Dtype::s64, &s, 0, 1e30);
  store_element(Dtype::u64, &u, 0, 1e30);
  EXPECT_EQ(s, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(u, std::numeric_limits<std::uint64_t>::max());
  store_element(Dtype::s64, &s, 0, -1e30);
  store_element(Dtype::u64, &u, 0, -1);
  EXPECT_EQ(s, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(u, 0u);
  store_element(Dtype::s64, &s, 0, -123456789012.0);
  EXPECT_EQ(load_element(Dtype::s64, &s, 0), -123456789012.0);
}

TEST(Dtype, elements_are_placed_by_index_and_unaligned) {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::s32, Dtype::s16,
                            Dtype::s8, Dtype::u32, Dtype::u16, Dtype::u8}) {
    unsigned char bytes[8 * 9 + 1] = {};
    for (int i = 0; i < 8; ++i) store_element(dtype, bytes + 1, i, i + 1);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(load_element(dtype, bytes + 1, i), i + 1);
    const int end = 1 + 8 * dtype_bits(dtype) / 8;
    EXPECT_EQ(bytes[0], 0) << "nothing before the first element";
    EXPECT_EQ(bytes[end], 0) << "nothing after the last element";
  }
}

TEST(Dtype, unit_roundoff_is_half_of_the_distance_after_one) {
  EXPECT_EQ(unit_roundoff(Dtype::f64), 0x1p-53);
  EXPECT_EQ(unit_roundoff(Dtype::f32), 0x1p-24);
  EXPECT_EQ(unit_roundoff(Dtype::f16), 0x1p-11);
  EXPECT_EQ(unit_roundoff(Dtype::bf16), 0x1p-8);
  EXPECT_EQ(unit_roundoff(Dtype::f8_e4m3fn), 0x1p-4);
  EXPECT_EQ(unit_roundoff(Dtype::f8_e5m2), 0x1p-3);
  EXPECT_EQ(unit_roundoff(Dtype::s8), 0);
}

TEST(Dtype, bytes_of_types_below_a_byte_are_rounded_up) {
  EXPECT_EQ(dtype_bytes(Dtype::f32, 3), 12);
  EXPECT_EQ(dtype_bytes(Dtype::s4, 3), 2);
  EXPECT_EQ(dtype_bytes(Dtype::u1, 9), 2);
  EXPECT_EQ(dtype_bytes(Dtype::f6_e3m2, 4), 3);
  EXPECT_EQ(dtype_bytes(Dtype::s8, 0), 0);
}

TEST(Dtype, names_are_distinct_and_read_back) {
  std::set<std::string_view> names;
  for (const Dtype dtype : all_dtypes()) {
    EXPECT_TRUE(names.insert(dtype_name(dtype)).second);
    EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype);
    EXPECT_EQ(dtype_from_value(static_cast<std::int64_t>(dtype)), dtype);
  }
  EXPECT_EQ(names.size(), 27u);
}

TEST(Dtype, what_people_type_is_understood) {
  EXPECT_EQ(parse_dtype("fp16"), Dtype::f16);
  EXPECT_EQ(parse_dtype("BFloat16"), Dtype::bf16);
  EXPECT_EQ(parse_dtype("BF16"), Dtype::bf16);
  EXPECT_EQ(parse_dtype("int8"), Dtype::s8);
  EXPECT_EQ(parse_dtype("fp8"), Dtype::f8_e4m3fn);
  EXPECT_EQ(parse_dtype("fp8_e4m3"), Dtype::f8_e4m3fn);
  EXPECT_EQ(parse_dtype("fp8_e5m2"), Dtype::f8_e5m2);
  EXPECT_EQ(parse_dtype("float32"), Dtype::f32);
  EXPECT_EQ(parse_dtype("bf17"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

TEST(Dtype, a_number_that_names_no_type_is_none) {
  EXPECT_EQ(dtype_from_value(0), std::nullopt);
  EXPECT_EQ(dtype_from_value(28), std::nullopt);
  EXPECT_EQ(dtype_from_value(-1), std::nullopt);
}

}  // namespace
}  // namespace halmark
