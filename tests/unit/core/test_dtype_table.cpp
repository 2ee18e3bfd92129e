// Every data type against the tables of its format, its spellings, and the bits of what is special.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "core/dtype.hpp"

namespace halmark {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Bits of an element, and bits of the significand with the hidden one (0 of integers), as the
// formats' papers state them (IEEE 754, OCP 8-bit floats, OCP microscaling, NVIDIA's TF32).
TEST(DtypeTable, widths_and_significands_are_those_of_the_formats) {
  struct Row {
    int bits, significand;
  };
  const std::map<std::string_view, Row> table = {
      {"f64", {64, 53}},       {"f32", {32, 24}},     {"tf32", {32, 11}},  {"f16", {16, 11}},
      {"bf16", {16, 8}},       {"f8_e4m3fn", {8, 4}}, {"f8_e5m2", {8, 3}}, {"f8_e4m3fnuz", {8, 4}},
      {"f8_e5m2fnuz", {8, 3}}, {"f8_e8m0", {8, 1}},   {"f6_e3m2", {6, 3}}, {"f6_e2m3", {6, 4}},
      {"f4_e2m1", {4, 2}},     {"s64", {64, 0}},      {"s32", {32, 0}},    {"s16", {16, 0}},
      {"s8", {8, 0}},          {"s4", {4, 0}},        {"s2", {2, 0}},      {"u64", {64, 0}},
      {"u32", {32, 0}},        {"u16", {16, 0}},      {"u8", {8, 0}},      {"u4", {4, 0}},
      {"u1", {1, 0}},          {"c64", {64, 24}},     {"c128", {128, 53}}};
  EXPECT_EQ(table.size(), all_dtypes().size());
  for (const Dtype dtype : all_dtypes()) {
    const Row& row = table.at(dtype_name(dtype));
    EXPECT_EQ(dtype_bits(dtype), row.bits) << dtype_name(dtype);
    EXPECT_EQ(is_integer(dtype), row.significand == 0) << dtype_name(dtype);
    EXPECT_EQ(unit_roundoff(dtype), row.significand == 0 ? 0 : std::pow(2.0, -row.significand))
        << dtype_name(dtype);
  }
}

TEST(DtypeTable, every_spelling_is_understood) {
  const std::map<std::string_view, Dtype> spellings = {{"fp64", Dtype::f64},
                                                       {"double", Dtype::f64},
                                                       {"fp32", Dtype::f32},
                                                       {"float32", Dtype::f32},
                                                       {"float", Dtype::f32},
                                                       {"fp16", Dtype::f16},
                                                       {"float16", Dtype::f16},
                                                       {"half", Dtype::f16},
                                                       {"bfloat16", Dtype::bf16},
                                                       {"fp8", Dtype::f8_e4m3fn},
                                                       {"fp8_e4m3", Dtype::f8_e4m3fn},
                                                       {"f8_e4m3", Dtype::f8_e4m3fn},
                                                       {"fp8_e5m2", Dtype::f8_e5m2},
                                                       {"int8", Dtype::s8},
                                                       {"int4", Dtype::s4},
                                                       {"int32", Dtype::s32},
                                                       {"uint8", Dtype::u8},
                                                       {"fp4", Dtype::f4_e2m1}};
  for (const auto& [text, dtype] : spellings) EXPECT_EQ(parse_dtype(text), dtype) << text;
}

// All values of a format without infinity and NaN, from its definition: (-1)^s 2^(e-bias) 1.m.
std::vector<double> values_of(int exponent_bits, int mantissa_bits, int bias) {
  std::vector<double> out;
  for (int e = 0; e < 1 << exponent_bits; ++e) {
    for (int m = 0; m < 1 << mantissa_bits; ++m) {
      const double fraction = m / std::pow(2.0, mantissa_bits);
      out.push_back(e == 0 ? fraction * std::pow(2.0, 1 - bias)
                           : (1 + fraction) * std::pow(2.0, e - bias));
    }
  }
  return out;
}

TEST(DtypeTable, types_below_a_byte_round_to_the_values_of_their_format) {
  struct Format {
    Dtype dtype;
    std::vector<double> values;
  };
  for (const auto& [dtype, values] :
       {Format{Dtype::f6_e3m2, values_of(3, 2, 3)}, Format{Dtype::f6_e2m3, values_of(2, 3, 1)},
        Format{Dtype::f4_e2m1, values_of(2, 1, 1)}}) {
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      const double a = values[i], b = values[i + 1], middle = (a + b) / 2;
      EXPECT_EQ(round_to(dtype, a), a) << dtype_name(dtype);
      EXPECT_EQ(round_to(dtype, -a), -a) << dtype_name(dtype);
      EXPECT_EQ(round_to(dtype, middle), i % 2 == 0 ? a : b) << dtype_name(dtype) << ' ' << middle;
      EXPECT_EQ(round_to(dtype, std::nextafter(middle, inf)), b) << dtype_name(dtype);
    }
    EXPECT_EQ(round_to(dtype, inf), values.back()) << dtype_name(dtype);
    EXPECT_EQ(round_to(dtype, 1.01 * values.back()), values.back()) << dtype_name(dtype);
  }
}

TEST(DtypeTable, tf32_and_complex_numbers_have_the_range_of_their_floats) {
  const double f32_max = std::numeric_limits<float>::max();
  EXPECT_EQ(round_to(Dtype::tf32, 0x1p-136), 0x1p-136) << "the least above zero: 2^-126 2^-10";
  EXPECT_EQ(round_to(Dtype::tf32, 0x1p-137), 0) << "tie to even";
  EXPECT_EQ(round_to(Dtype::tf32, 0x1.ffcp127), 0x1.ffcp127);
  EXPECT_EQ(round_to(Dtype::tf32, f32_max), inf) << "rounds to 2^128";
  EXPECT_EQ(round_to(Dtype::c64, f32_max), f32_max);
  EXPECT_EQ(round_to(Dtype::c64, 2 * f32_max), inf);
  EXPECT_EQ(round_to(Dtype::c64, 0x1p-149), 0x1p-149);
  EXPECT_EQ(round_to(Dtype::c64, 0x1p-150), 0);
  EXPECT_EQ(round_to(Dtype::c64, 1 + 0x1p-24), 1);
  EXPECT_EQ(round_to(Dtype::c64, 1 + 0x1p-23), 1 + 0x1p-23);
  EXPECT_EQ(round_to(Dtype::c128, 1 + 0x1p-52), 1 + 0x1p-52);
  EXPECT_EQ(round_to(Dtype::bf16, 0x1.fep127), 0x1.fep127);
  EXPECT_EQ(round_to(Dtype::bf16, 0x1p-133), 0x1p-133);
  EXPECT_EQ(round_to(Dtype::bf16, 0x1p-134), 0);
}

TEST(DtypeTable, integers_of_eight_bytes_end_at_their_powers) {
  EXPECT_EQ(round_to(Dtype::s64, 1e30), 0x1p63);
  EXPECT_EQ(round_to(Dtype::s64, -0x1p63), -0x1p63);
  EXPECT_EQ(round_to(Dtype::u64, 1e30), 0x1p64);
  EXPECT_EQ(round_to(Dtype::u64, 0x1p63), 0x1p63);
  EXPECT_EQ(round_to(Dtype::u64, -3), 0);
}

unsigned bits_of(Dtype dtype, double value) {
  std::uint16_t out = 0;
  store_element(dtype, &out, 0, value);
  return out;
}

double value_of(Dtype dtype, std::uint16_t bits) { return load_element(dtype, &bits, 0); }

TEST(DtypeBits, infinities_and_nan_are_the_patterns_of_the_formats) {
  EXPECT_EQ(bits_of(Dtype::f16, inf), 0x7c00u);
  EXPECT_EQ(bits_of(Dtype::f16, -inf), 0xfc00u);
  EXPECT_EQ(bits_of(Dtype::f16, nan) & 0x7fffu, 0x7fffu);
  EXPECT_EQ(bits_of(Dtype::f8_e5m2, -inf), 0xfcu);
  EXPECT_EQ(bits_of(Dtype::f8_e5m2, nan) & 0x7fu, 0x7fu);
  EXPECT_EQ(bits_of(Dtype::f8_e4m3fn, nan) & 0x7fu, 0x7fu);
  EXPECT_EQ(bits_of(Dtype::f8_e4m3fnuz, nan), 0x80u);
  EXPECT_EQ(bits_of(Dtype::f8_e5m2fnuz, nan), 0x80u);
  EXPECT_EQ(bits_of(Dtype::f8_e8m0, nan), 0xffu);
  EXPECT_EQ(value_of(Dtype::f16, 0x7c00), inf);
  EXPECT_EQ(value_of(Dtype::f16, 0xfc00), -inf);
  EXPECT_TRUE(std::isnan(value_of(Dtype::f16, 0x7c01)));
  EXPECT_EQ(value_of(Dtype::f8_e5m2, 0x7c), inf);
  EXPECT_TRUE(std::isnan(value_of(Dtype::f8_e5m2, 0x7d)));
  EXPECT_TRUE(std::isnan(value_of(Dtype::f8_e4m3fn, 0x7f)));
  EXPECT_TRUE(std::isnan(value_of(Dtype::f8_e4m3fn, 0xff)));
  EXPECT_EQ(value_of(Dtype::f8_e4m3fn, 0x7e), 448);
  EXPECT_TRUE(std::isnan(value_of(Dtype::f8_e5m2fnuz, 0x80)));
  EXPECT_TRUE(std::isnan(value_of(Dtype::f8_e8m0, 0xff)));
}

TEST(DtypeBits, types_below_a_byte_have_no_element_of_their_own) {
  for (const Dtype dtype : {Dtype::s4, Dtype::u4, Dtype::f4_e2m1, Dtype::f6_e3m2, Dtype::c64}) {
    std::uint64_t room = 0;
    store_element(dtype, &room, 0, 3);
    EXPECT_EQ(room, 0u) << dtype_name(dtype);
    EXPECT_TRUE(std::isnan(load_element(dtype, &room, 0))) << dtype_name(dtype);
  }
}

TEST(DtypeBits, elements_of_every_type_are_placed_by_index) {
  for (const Dtype dtype : {Dtype::tf32, Dtype::f8_e4m3fn, Dtype::f8_e5m2, Dtype::f8_e4m3fnuz,
                            Dtype::f8_e5m2fnuz, Dtype::f8_e8m0, Dtype::s64, Dtype::u64}) {
    unsigned char bytes[1 + 8 * 3] = {};
    for (int i = 0; i < 3; ++i) store_element(dtype, bytes + 1, i, 1 << i);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(load_element(dtype, bytes + 1, i), 1 << i) << dtype_name(dtype);
    }
  }
  std::uint64_t high = ~std::uint64_t{0};
  EXPECT_EQ(load_element(Dtype::u64, &high, 0), 0x1p64);
  EXPECT_EQ(load_element(Dtype::u32, &high, 0), 0x1p32 - 1);
  EXPECT_EQ(load_element(Dtype::u16, &high, 0), 65535);
  EXPECT_EQ(load_element(Dtype::u8, &high, 0), 255);
  for (const Dtype dtype : {Dtype::s64, Dtype::s32, Dtype::s16, Dtype::s8}) {
    EXPECT_EQ(load_element(dtype, &high, 0), -1) << dtype_name(dtype);
  }
}

}  // namespace
}  // namespace halmark
