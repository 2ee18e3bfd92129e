// Data types: the ABI's numbers and names, the spellings people type, and their arithmetic facts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/fields/fields.hpp"

namespace halmark {

// Values equal HM_DTYPE_* of the plugin ABI (tests/abi pins the correspondence).
enum class Dtype : std::int32_t {
  f64 = 1,
  f32 = 2,
  tf32 = 3,
  f16 = 4,
  bf16 = 5,
  f8_e4m3fn = 6,
  f8_e5m2 = 7,
  f8_e4m3fnuz = 8,
  f8_e5m2fnuz = 9,
  f8_e8m0 = 10,
  f6_e3m2 = 11,
  f6_e2m3 = 12,
  f4_e2m1 = 13,
  s64 = 14,
  s32 = 15,
  s16 = 16,
  s8 = 17,
  s2 = 18,
  s4 = 19,
  u64 = 20,
  u32 = 21,
  u16 = 22,
  u8 = 23,
  u4 = 24,
  u1 = 25,
  c64 = 26,
  c128 = 27,
};

std::span<const Dtype> all_dtypes();

// The exact ABI name ("bf16", "f8_e4m3fn"); every output prints this one.
std::string_view dtype_name(Dtype dtype);

// Width of one element in bits (tf32: 32 in memory).
int dtype_bits(Dtype dtype);

bool is_integer(Dtype dtype);

// Unit roundoff u = 2^-(p) with p the significand precision in bits; 0 for integers.
double unit_roundoff(Dtype dtype);

// Bytes of `count` elements, sub-byte rows rounded up to a byte.
std::int64_t dtype_bytes(Dtype dtype, std::int64_t count);

// Exact names and the aliases people type (fp16, bfloat16, int8, fp8, fp8_e4m3), case-insensitive.
std::optional<Dtype> parse_dtype(std::string_view text);
template <>
inline constexpr ClosedSet<Dtype> closed_set<Dtype>{"a dtype", dtype_name, parse_dtype};

// Known integer value of a "..._dtype" parameter, or nothing when it names no type.
std::optional<Dtype> dtype_from_value(std::int64_t value);

// Rounds to the nearest value that the type can hold (ties to even; integers saturate).
double round_to(Dtype dtype, double value);

// Element access in plain memory for every type of at least one byte that is not complex.
double load_element(Dtype dtype, const void* base, std::int64_t index);
void store_element(Dtype dtype, void* base, std::int64_t index, double value);

}  // namespace halmark
