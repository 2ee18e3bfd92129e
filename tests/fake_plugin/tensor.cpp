#include "tensor.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace fake {
namespace {

template <class T>
T load(const void* data, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const T*>(data) + i, sizeof value);
  return value;
}
template <class T>
void store(void* data, std::int64_t i, T value) {
  std::memcpy(static_cast<T*>(data) + i, &value, sizeof value);
}

double from_f16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const double sign = (bits >> 15) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

std::uint16_t to_f16(double value) {
  const unsigned sign = std::signbit(value) ? 0x8000u : 0u;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (magnitude >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);
  const int exponent = std::max(std::ilogb(magnitude), -14);
  const double steps = std::nearbyint(std::ldexp(magnitude, 10 - exponent));  // of 2^(e - 10)
  const unsigned carry = static_cast<unsigned>(steps);  // 1024..2048, or below 1024 if subnormal
  return static_cast<std::uint16_t>(sign | ((static_cast<unsigned>(exponent + 14) << 10) + carry));
}

float from_bf16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

std::uint16_t to_bf16(double value) {
  if (std::isnan(value)) return 0x7fc0;
  if (value == 0 || std::isinf(value) || std::fabs(value) < 0x1p-126) {
    const float narrow = static_cast<float>(value);
    std::uint32_t wide;
    std::memcpy(&wide, &narrow, sizeof wide);
    return static_cast<std::uint16_t>((wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16);
  }
  // Rounded once, from the double: going through float first could round twice.
  const int exponent = std::ilogb(value);
  const float rounded =
      static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(value, 7 - exponent)), exponent - 7));
  std::uint32_t wide;
  std::memcpy(&wide, &rounded, sizeof wide);
  return static_cast<std::uint16_t>(wide >> 16);
}

template <class T>
T saturate(double value) {
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double high = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(std::clamp(std::nearbyint(value), low, high));
}

}  // namespace

bool is_known_dtype(std::int64_t dtype) {
  switch (dtype) {
    case HM_DTYPE_F64:
    case HM_DTYPE_F32:
    case HM_DTYPE_F16:
    case HM_DTYPE_BF16:
    case HM_DTYPE_S32:
    case HM_DTYPE_S8:
    case HM_DTYPE_U8:
      return true;
    default:
      return false;
  }
}

double Tensor::at(std::int64_t i) const {
  switch (dtype) {
    case HM_DTYPE_F64:
      return load<double>(data, i);
    case HM_DTYPE_F32:
      return static_cast<double>(load<float>(data, i));
    case HM_DTYPE_F16:
      return from_f16(load<std::uint16_t>(data, i));
    case HM_DTYPE_BF16:
      return static_cast<double>(from_bf16(load<std::uint16_t>(data, i)));
    case HM_DTYPE_S32:
      return load<std::int32_t>(data, i);
    case HM_DTYPE_S8:
      return load<std::int8_t>(data, i);
    default:
      return load<std::uint8_t>(data, i);
  }
}

void Tensor::set(std::int64_t i, double value) const {
  switch (dtype) {
    case HM_DTYPE_F64:
      return store(data, i, value);
    case HM_DTYPE_F32:
      return store(data, i, static_cast<float>(value));
    case HM_DTYPE_F16:
      return store(data, i, to_f16(value));
    case HM_DTYPE_BF16:
      return store(data, i, to_bf16(value));
    case HM_DTYPE_S32:
      return store(data, i, saturate<std::int32_t>(value));
    case HM_DTYPE_S8:
      return store(data, i, saturate<std::int8_t>(value));
    default:
      return store(data, i, saturate<std::uint8_t>(value));
  }
}

std::vector<double> Tensor::values() const {
  std::vector<double> all(static_cast<std::size_t>(elements));
  for (std::int64_t i = 0; i < elements; ++i) all[static_cast<std::size_t>(i)] = at(i);
  return all;
}

std::int64_t Operand::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) product *= dim;
  return product;
}

std::int64_t need(const Shape& shape, std::string_view name) {
  const auto found = shape.find(name);
  if (found != shape.end()) return found->second;
  throw halmark::plugin::failure(HM_UNSUPPORTED,
                                 "parameter '" + std::string(name) + "' is missing");
}
std::int64_t need_or(const Shape& shape, std::string_view name, std::int64_t fallback) {
  const auto found = shape.find(name);
  return found == shape.end() ? fallback : found->second;
}

}  // namespace fake
