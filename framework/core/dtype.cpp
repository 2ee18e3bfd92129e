#include "core/dtype.hpp"
#include "core/text/text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

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

constexpr std::array every = [] {
  std::array<Dtype, facts.size()> result{};
  for (std::size_t i = 0; i < facts.size(); ++i) result[i] = facts[i].dtype;
  return result;
}();

const Facts& facts_of(Dtype dtype) {
  // Numbers are dense from 1, so the table is an index.
  return facts.at(static_cast<std::size_t>(dtype) - 1);
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

template <class T>
T load_as(const void* base, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const unsigned char*>(base) + index * std::int64_t{sizeof(T)},
              sizeof(T));
  return value;
}

template <class T>
void store_as(void* base, std::int64_t index, T value) {
  std::memcpy(static_cast<unsigned char*>(base) + index * std::int64_t{sizeof(T)}, &value,
              sizeof(T));
}

// Bits of an already rounded value in an IEEE-like small format with the given widths.
std::uint32_t encode_small(double value, int exponent_bits, int mantissa_bits, int bias) {
  const std::uint32_t sign = std::signbit(value) ? 1u : 0u;
  const double magnitude = std::fabs(value);
  std::uint32_t exponent = 0, mantissa = 0;
  if (std::isnan(value)) {
    exponent = (1u << exponent_bits) - 1;
    mantissa = (1u << mantissa_bits) - 1;
  } else if (std::isinf(value)) {
    exponent = (1u << exponent_bits) - 1;
  } else if (magnitude != 0) {
    int e = 0;
    std::frexp(magnitude, &e);
    const int biased = e - 1 + bias;
    if (biased <= 0) {
      mantissa = static_cast<std::uint32_t>(std::ldexp(magnitude, mantissa_bits + bias - 1));
    } else {
      exponent = static_cast<std::uint32_t>(biased);
      mantissa = static_cast<std::uint32_t>(std::ldexp(magnitude, mantissa_bits - (e - 1)) -
                                            std::ldexp(1.0, mantissa_bits));
    }
  }
  return (sign << (exponent_bits + mantissa_bits)) | (exponent << mantissa_bits) | mantissa;
}

double decode_small(std::uint32_t bits, int exponent_bits, int mantissa_bits, int bias,
                    bool has_infinity) {
  const std::uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const std::uint32_t exponent = (bits >> mantissa_bits) & ((1u << exponent_bits) - 1);
  const double sign = (bits >> (exponent_bits + mantissa_bits)) & 1u ? -1.0 : 1.0;
  const std::uint32_t top = (1u << exponent_bits) - 1;
  if (exponent == top && has_infinity) {
    return mantissa == 0 ? sign * inf : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == top && mantissa == (1u << mantissa_bits) - 1) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1u << mantissa_bits),
                           static_cast<int>(exponent) - bias - mantissa_bits);
}

// The "fnuz" forms: one zero, no infinity, NaN in the place of minus zero.
std::uint32_t encode_fnuz(double value, int exponent_bits, int mantissa_bits, int bias) {
  if (std::isnan(value)) return 0x80;
  return value == 0 ? 0 : encode_small(value, exponent_bits, mantissa_bits, bias);
}

double decode_fnuz(std::uint32_t bits, int mantissa_bits, int bias) {
  if (bits == 0x80) return std::numeric_limits<double>::quiet_NaN();
  const double sign = bits & 0x80 ? -1.0 : 1.0;
  const std::uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const auto exponent = static_cast<int>((bits & 0x7f) >> mantissa_bits);
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1u << mantissa_bits), exponent - bias - mantissa_bits);
}

// A bare exponent: no sign, no zero, NaN on top.
std::uint8_t encode_e8m0(double value) {
  return std::isnan(value) ? 0xff : static_cast<std::uint8_t>(std::ilogb(value) + 127);
}

double decode_e8m0(std::uint8_t bits) {
  return bits == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
}

// 2^63 and 2^64, where large values round to, are just outside of the integer types.
template <class T>
T saturated(double value) {
  constexpr double above = std::is_signed_v<T> ? 0x1p63 : 0x1p64;
  return value >= above ? std::numeric_limits<T>::max() : static_cast<T>(value);
}

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
  if (value < 1 || value > static_cast<std::int64_t>(facts.size())) return std::nullopt;
  return static_cast<Dtype>(value);
}

double round_to(Dtype dtype, double value) {
  const Facts& f = facts_of(dtype);
  if (dtype == Dtype::f64 || dtype == Dtype::c128) return value;
  return f.significand == 0 ? round_integer(dtype, f, value) : round_float(f, value);
}

double load_element(Dtype dtype, const void* base, std::int64_t index) {
  switch (dtype) {
    case Dtype::f64:
      return load_as<double>(base, index);
    case Dtype::f32:
    case Dtype::tf32:
      return load_as<float>(base, index);
    case Dtype::bf16: {
      const auto bits = static_cast<std::uint32_t>(load_as<std::uint16_t>(base, index)) << 16;
      return std::bit_cast<float>(bits);
    }
    case Dtype::f16:
      return decode_small(load_as<std::uint16_t>(base, index), 5, 10, 15, true);
    case Dtype::f8_e4m3fn:
      return decode_small(load_as<std::uint8_t>(base, index), 4, 3, 7, false);
    case Dtype::f8_e5m2:
      return decode_small(load_as<std::uint8_t>(base, index), 5, 2, 15, true);
    case Dtype::f8_e4m3fnuz:
      return decode_fnuz(load_as<std::uint8_t>(base, index), 3, 8);
    case Dtype::f8_e5m2fnuz:
      return decode_fnuz(load_as<std::uint8_t>(base, index), 2, 16);
    case Dtype::f8_e8m0:
      return decode_e8m0(load_as<std::uint8_t>(base, index));
    case Dtype::s64:
      return static_cast<double>(load_as<std::int64_t>(base, index));
    case Dtype::s32:
      return load_as<std::int32_t>(base, index);
    case Dtype::s16:
      return load_as<std::int16_t>(base, index);
    case Dtype::s8:
      return load_as<std::int8_t>(base, index);
    case Dtype::u64:
      return static_cast<double>(load_as<std::uint64_t>(base, index));
    case Dtype::u32:
      return load_as<std::uint32_t>(base, index);
    case Dtype::u16:
      return load_as<std::uint16_t>(base, index);
    case Dtype::u8:
      return load_as<std::uint8_t>(base, index);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

void store_element(Dtype dtype, void* base, std::int64_t index, double value) {
  const double v = round_to(dtype, value);
  switch (dtype) {
    case Dtype::f64:
      return store_as(base, index, v);
    case Dtype::f32:
    case Dtype::tf32:
      return store_as(base, index, static_cast<float>(v));
    case Dtype::bf16: {
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(v));
      return store_as(base, index, static_cast<std::uint16_t>(bits >> 16));
    }
    case Dtype::f16:
      return store_as(base, index, static_cast<std::uint16_t>(encode_small(v, 5, 10, 15)));
    case Dtype::f8_e4m3fn:
      return store_as(base, index, static_cast<std::uint8_t>(encode_small(v, 4, 3, 7)));
    case Dtype::f8_e5m2:
      return store_as(base, index, static_cast<std::uint8_t>(encode_small(v, 5, 2, 15)));
    case Dtype::f8_e4m3fnuz:
      return store_as(base, index, static_cast<std::uint8_t>(encode_fnuz(v, 4, 3, 8)));
    case Dtype::f8_e5m2fnuz:
      return store_as(base, index, static_cast<std::uint8_t>(encode_fnuz(v, 5, 2, 16)));
    case Dtype::f8_e8m0:
      return store_as(base, index, encode_e8m0(v));
    case Dtype::s64:
      return store_as(base, index, saturated<std::int64_t>(v));
    case Dtype::s32:
      return store_as(base, index, static_cast<std::int32_t>(v));
    case Dtype::s16:
      return store_as(base, index, static_cast<std::int16_t>(v));
    case Dtype::s8:
      return store_as(base, index, static_cast<std::int8_t>(v));
    case Dtype::u64:
      return store_as(base, index, saturated<std::uint64_t>(v));
    case Dtype::u32:
      return store_as(base, index, static_cast<std::uint32_t>(v));
    case Dtype::u16:
      return store_as(base, index, static_cast<std::uint16_t>(v));
    case Dtype::u8:
      return store_as(base, index, static_cast<std::uint8_t>(v));
    default:
      return;
  }
}

}  // namespace halmark
