// Elements of arrays as numbers, and back: the bits of every type of at least one byte.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/dtype.hpp"
#include "core/lists.hpp"

namespace halmark {
namespace {

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
      mantissa = as_uint32(std::ldexp(magnitude, mantissa_bits + bias - 1));
    } else {
      exponent = as_uint32(biased);
      mantissa = as_uint32(std::ldexp(magnitude, mantissa_bits - (e - 1)) -
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
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == top && mantissa == (1u << mantissa_bits) - 1) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign *
         std::ldexp(mantissa + (1u << mantissa_bits), as_int(exponent) - bias - mantissa_bits);
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
  const auto exponent = as_int((bits & 0x7f) >> mantissa_bits);
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

}  // namespace

double load_element(Dtype dtype, const void* base, std::int64_t index) {
  switch (dtype) {
    case Dtype::f64:
      return load_as<double>(base, index);
    case Dtype::f32:
    case Dtype::tf32:
      return load_as<float>(base, index);
    case Dtype::bf16: {
      const auto bits = as_uint32(load_as<std::uint16_t>(base, index)) << 16;
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
      return as_double(load_as<std::int64_t>(base, index));
    case Dtype::s32:
      return load_as<std::int32_t>(base, index);
    case Dtype::s16:
      return load_as<std::int16_t>(base, index);
    case Dtype::s8:
      return load_as<std::int8_t>(base, index);
    case Dtype::u64:
      return as_double(load_as<std::uint64_t>(base, index));
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
      return store_as(base, index, as_int(v));
    case Dtype::s16:
      return store_as(base, index, static_cast<std::int16_t>(v));
    case Dtype::s8:
      return store_as(base, index, static_cast<std::int8_t>(v));
    case Dtype::u64:
      return store_as(base, index, saturated<std::uint64_t>(v));
    case Dtype::u32:
      return store_as(base, index, as_uint32(v));
    case Dtype::u16:
      return store_as(base, index, static_cast<std::uint16_t>(v));
    case Dtype::u8:
      return store_as(base, index, static_cast<std::uint8_t>(v));
    default:
      return;
  }
}

}  // namespace halmark
