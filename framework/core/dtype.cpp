#include "core/dtype.hpp"
#include "core/lists.hpp"
#include "core/text/enum_names.hpp"
#include "core/text/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace halmark {
namespace {

// significand = precision bits including the hidden one; 0 for integers.
struct Facts {
  Dtype dtype;
  std::string_view name;
  int bits;
  int significand;
  int exponent_min;  // of the smallest normal number, as in 1.m x 2^e
  double largest;
};

constexpr double inf = std::numeric_limits<double>::infinity();

constexpr std::array facts = {
    Facts{Dtype::f64, "f64", 64, 53, -1022, std::numeric_limits<double>::max()},
    Facts{Dtype::f32, "f32", 32, 24, -126, std::numeric_limits<float>::max()},
    Facts{Dtype::tf32, "tf32", 32, 11, -126, std::numeric_limits<float>::max()},
    Facts{Dtype::f16, "f16", 16, 11, -14, 65504.0},
    Facts{Dtype::bf16, "bf16", 16, 8, -126, 0x1.fep127},
    Facts{Dtype::f8_e4m3fn, "f8_e4m3fn", 8, 4, -6, 448.0},
    Facts{Dtype::f8_e5m2, "f8_e5m2", 8, 3, -14, 57344.0},
    Facts{Dtype::f8_e4m3fnuz, "f8_e4m3fnuz", 8, 4, -7, 240.0},
    Facts{Dtype::f8_e5m2fnuz, "f8_e5m2fnuz", 8, 3, -15, 57344.0},
    Facts{Dtype::f8_e8m0, "f8_e8m0", 8, 1, -127, 0x1p127},
    Facts{Dtype::f6_e3m2, "f6_e3m2", 6, 3, -2, 28.0},
    Facts{Dtype::f6_e2m3, "f6_e2m3", 6, 4, 0, 7.5},
    Facts{Dtype::f4_e2m1, "f4_e2m1", 4, 2, 0, 6.0},
    Facts{Dtype::s64, "s64", 64, 0, 0, 0x1p63},
    Facts{Dtype::s32, "s32", 32, 0, 0, 0x1p31 - 1},
    Facts{Dtype::s16, "s16", 16, 0, 0, 32767},
    Facts{Dtype::s8, "s8", 8, 0, 0, 127},
    Facts{Dtype::s2, "s2", 2, 0, 0, 1},
    Facts{Dtype::s4, "s4", 4, 0, 0, 7},
    Facts{Dtype::u64, "u64", 64, 0, 0, 0x1p64},
    Facts{Dtype::u32, "u32", 32, 0, 0, 0x1p32 - 1},
    Facts{Dtype::u16, "u16", 16, 0, 0, 65535},
    Facts{Dtype::u8, "u8", 8, 0, 0, 255},
    Facts{Dtype::u4, "u4", 4, 0, 0, 15},
    Facts{Dtype::u1, "u1", 1, 0, 0, 1},
    Facts{Dtype::c64, "c64", 64, 24, -126, std::numeric_limits<float>::max()},
    Facts{Dtype::c128, "c128", 128, 53, -1022, std::numeric_limits<double>::max()},
};
static_assert(has_row_of_each<1>(facts, &Facts::dtype));

constexpr std::array every = [] {
  std::array<Dtype, facts.size()> result{};
  for (const auto i : indices(facts)) result[i] = facts[i].dtype;
  return result;
}();

const Facts& facts_of(Dtype dtype) {
  // Numbers are dense from 1, so the table is an index.
  return facts.at(as_size(dtype) - 1);
}

struct Alias {
  std::string_view text;
  Dtype dtype;
};

constexpr std::array aliases = {
    Alias{"fp64", Dtype::f64},
    Alias{"double", Dtype::f64},
    Alias{"fp32", Dtype::f32},
    Alias{"float32", Dtype::f32},
    Alias{"float", Dtype::f32},
    Alias{"fp16", Dtype::f16},
    Alias{"float16", Dtype::f16},
    Alias{"half", Dtype::f16},
    Alias{"bfloat16", Dtype::bf16},
    Alias{"fp8", Dtype::f8_e4m3fn},
    Alias{"fp8_e4m3", Dtype::f8_e4m3fn},
    Alias{"f8_e4m3", Dtype::f8_e4m3fn},
    Alias{"fp8_e5m2", Dtype::f8_e5m2},
    Alias{"int8", Dtype::s8},
    Alias{"int4", Dtype::s4},
    Alias{"int32", Dtype::s32},
    Alias{"uint8", Dtype::u8},
    Alias{"fp4", Dtype::f4_e2m1},
};

double round_float(const Facts& f, double value) {
  // Formats without infinity saturate; the others overflow.
  const bool saturates = f.bits <= 8 && f.dtype != Dtype::f8_e5m2;
  if (f.dtype == Dtype::f8_e8m0 && value < 0x1p-127) return 0x1p-127;
  if (std::isinf(value) && saturates) return std::copysign(f.largest, value);
  if (value == 0 || !std::isfinite(value)) return value;
  int e = 0;
  std::frexp(value, &e);
  const int exponent = std::max(e - 1, f.exponent_min);
  const double step = std::ldexp(1.0, exponent - (f.significand - 1));
  const double rounded = std::nearbyint(value / step) * step;
  if (std::fabs(rounded) <= f.largest) return rounded;
  return std::copysign(saturates ? f.largest : inf, value);
}

double round_integer(Dtype dtype, const Facts& f, double value) {
  if (std::isnan(value)) return 0;
  const bool is_unsigned = dtype == Dtype::u64 || dtype == Dtype::u32 || dtype == Dtype::u16 ||
                           dtype == Dtype::u8 || dtype == Dtype::u4 || dtype == Dtype::u1;
  return std::clamp(std::nearbyint(value), is_unsigned ? 0.0 : -f.largest - 1, f.largest);
}

}  // namespace

std::span<const Dtype> all_dtypes() { return every; }
std::string_view dtype_name(Dtype dtype) { return facts_of(dtype).name; }
int dtype_bits(Dtype dtype) { return facts_of(dtype).bits; }
bool is_integer(Dtype dtype) { return facts_of(dtype).significand == 0; }

double unit_roundoff(Dtype dtype) {
  const int significand = facts_of(dtype).significand;
  return significand == 0 ? 0.0 : std::ldexp(1.0, -significand);
}

std::int64_t dtype_bytes(Dtype dtype, std::int64_t count) {
  return (count * dtype_bits(dtype) + 7) / 8;
}

std::optional<Dtype> parse_dtype(std::string_view text) {
  const std::string lower = lower_case(text);
  for (const Facts& f : facts) {
    if (f.name == lower) return f.dtype;
  }
  for (const Alias& alias : aliases) {
    if (alias.text == lower) return alias.dtype;
  }
  return std::nullopt;
}

std::optional<Dtype> dtype_from_value(std::int64_t value) {
  if (value < 1 || value > std::ssize(facts)) return std::nullopt;
  return static_cast<Dtype>(value);
}

double round_to(Dtype dtype, double value) {
  const Facts& f = facts_of(dtype);
  if (dtype == Dtype::f64 || dtype == Dtype::c128) return value;
  return f.significand == 0 ? round_integer(dtype, f, value) : round_float(f, value);
}

}  // namespace halmark
