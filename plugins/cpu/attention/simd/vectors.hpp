// Vectors of HM_CPU_LANES floats. Included once by each instruction
// set's source, which is compiled for it. Everything in these headers has internal
// linkage and no standard library code is used, so that no wide instruction can leak into a
// function shared with other files.
#pragma once

#include <cstdint>

#include "attention/task.hpp"

namespace hm_cpu {
namespace {

constexpr std::int64_t lanes = HM_CPU_LANES;
typedef float Vector __attribute__((vector_size(lanes * 4)));
typedef std::int32_t IntVector __attribute__((vector_size(lanes * 4)));
typedef std::uint32_t BitVector __attribute__((vector_size(lanes * 4)));
typedef std::uint16_t HalfVector __attribute__((vector_size(lanes * 2)));

constexpr float minus_infinity = -__builtin_inff();
constexpr int micro_rows = HM_CPU_MICRO_ROWS;  // times two vectors: accumulators of one micro-tile
constexpr std::int64_t panel = 2 * lanes;

#define HM_CPU_INLINE static inline __attribute__((always_inline))
#define HM_CPU_UNROLL _Pragma("GCC unroll 16")

HM_CPU_INLINE Vector load(const float* source) {
  Vector value;
  __builtin_memcpy(&value, source, sizeof value);
  return value;
}

// bf16 is the upper half of an f32.
HM_CPU_INLINE Vector load(const std::uint16_t* source) {
  HalfVector half;
  __builtin_memcpy(&half, source, sizeof half);
  const BitVector bits = __builtin_convertvector(half, BitVector) << 16;
  return __builtin_bit_cast(Vector, bits);
}

HM_CPU_INLINE void store(float* target, Vector value) {
  __builtin_memcpy(target, &value, sizeof value);
}

// x - 0 is x for every x; 0 + x is not (-0) and would cost an addition.
HM_CPU_INLINE Vector broadcast(float value) { return value - Vector{}; }

HM_CPU_INLINE Vector larger(Vector a, Vector b) { return a > b ? a : b; }

template <typename Element>
HM_CPU_INLINE float widened(Element value) {
  if constexpr (sizeof(Element) == 4) {
    return value;
  } else {
    const std::uint32_t bits = static_cast<std::uint32_t>(value) << 16;
    float result;
    __builtin_memcpy(&result, &bits, 4);
    return result;
  }
}

// 2^f for f in [-0.5, 0.5], relative error below 2e-7: polynomial of Cephes exp2f.
HM_CPU_INLINE Vector power_of_fraction(Vector f) {
  Vector p = broadcast(1.535336188319500e-4F);
  p = p * f + broadcast(1.339887440266574e-3F);
  p = p * f + broadcast(9.618437357674640e-3F);
  p = p * f + broadcast(5.550332471162809e-2F);
  p = p * f + broadcast(2.402264791363012e-1F);
  p = p * f + broadcast(6.931472028550421e-1F);
  return p * f + broadcast(1.0F);
}

// 2^x for x <= 0, relative error below 2e-7; below 2^-126 it stays there. NaN stays NaN.
HM_CPU_INLINE Vector power_of_two(Vector x) {
  x = x < broadcast(-126.0F) ? broadcast(-126.0F) : x;
  const Vector magic = broadcast(12582912.0F);  // 1.5 * 2^23: adding it rounds to an integer
  const Vector shifted = x + magic;
  const Vector p = power_of_fraction(x - (shifted - magic));
  const BitVector bits =
      __builtin_bit_cast(BitVector, p) + (__builtin_bit_cast(BitVector, shifted) << 23);
  return __builtin_bit_cast(Vector, bits);
}

HM_CPU_INLINE float power_of_two(float x) { return power_of_two(broadcast(x))[0]; }

// a0 b0 a1 b1 ... of the lower and of the upper half.
#if HM_CPU_LANES == 16
#define HM_CPU_LOWER 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HM_CPU_UPPER 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif HM_CPU_LANES == 8
#define HM_CPU_LOWER 0, 8, 1, 9, 2, 10, 3, 11
#define HM_CPU_UPPER 4, 12, 5, 13, 6, 14, 7, 15
#else
#define HM_CPU_LOWER 0, 4, 1, 5
#define HM_CPU_UPPER 2, 6, 3, 7
#endif
#if __has_builtin(__builtin_shufflevector)
#define HM_CPU_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else  // GCC 11
#define HM_CPU_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, IntVector{__VA_ARGS__})
#endif
HM_CPU_INLINE Vector lower(Vector a, Vector b) { return HM_CPU_SHUFFLE(a, b, HM_CPU_LOWER); }
HM_CPU_INLINE Vector upper(Vector a, Vector b) { return HM_CPU_SHUFFLE(a, b, HM_CPU_UPPER); }

// Lane i of the result is the sum of all lanes of x[i]. Recursion instead of a halving loop: GCC
// unrolls that one too late to keep x in registers.
template <std::int64_t Count>
HM_CPU_INLINE Vector sums(const Vector (&x)[Count]) {
  if constexpr (Count == 1) {
    return x[0];
  } else {
    constexpr std::int64_t half = Count / 2;
    Vector y[half];
    HM_CPU_UNROLL
    for (std::int64_t i = 0; i < half; ++i) {
      y[i] = lower(x[i], x[i + half]) + upper(x[i], x[i + half]);
    }
    return sums(y);
  }
}

// Reductions over one vector in log2(lanes) steps; every lane holds the result.
HM_CPU_INLINE Vector largest_lane(Vector x) {
  HM_CPU_UNROLL
  for (std::int64_t step = 1; step < lanes; step *= 2) x = larger(lower(x, x), upper(x, x));
  return x;
}
HM_CPU_INLINE Vector sum_of_lanes(Vector x) {
  HM_CPU_UNROLL
  for (std::int64_t step = 1; step < lanes; step *= 2) x = lower(x, x) + upper(x, x);
  return x;
}

template <std::int64_t Stages = lanes>
HM_CPU_INLINE void transpose(Vector (&x)[lanes]) {
  if constexpr (Stages > 1) {
    Vector y[lanes];
    HM_CPU_UNROLL
    for (std::int64_t i = 0; i < lanes / 2; ++i) {
      y[2 * i] = lower(x[i], x[i + lanes / 2]);
      y[2 * i + 1] = upper(x[i], x[i + lanes / 2]);
    }
    transpose<Stages / 2>(y);
    HM_CPU_UNROLL
    for (std::int64_t i = 0; i < lanes; ++i) x[i] = y[i];
  }
}

std::int64_t clamped(std::int64_t value, std::int64_t low, std::int64_t high) {
  return value < low ? low : value > high ? high : value;
}

// Scores are in units of log2.
HM_CPU_INLINE float score_scale(std::int64_t head_dim) {
  return static_cast<float>(1.4426950408889634 / __builtin_sqrt(static_cast<double>(head_dim)));
}

// visit(first key, count, packed block) for each block of task.packed with one of these keys.
template <class Visit>
HM_CPU_INLINE void for_each_block(const AttentionTask& task, std::int64_t key_begin,
                                  std::int64_t key_end, std::int64_t floats, const Visit& visit) {
  for (std::int64_t i = (key_begin - task.packed_from) / task.key_block;; ++i) {
    const std::int64_t first = task.packed_from + i * task.key_block;
    if (first >= key_end) return;
    visit(first, clamped(task.context - first, 0, task.key_block), task.packed + i * floats);
  }
}

}  // namespace
}  // namespace hm_cpu
