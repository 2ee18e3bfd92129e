// Attention on vectors of HM_CPU_LANES floats; included once by each attention_<isa>.cpp, which is
// compiled for that instruction set. Everything here has internal linkage and no standard library
// code is used, so that no wide instruction can leak into a function shared with other files.
#pragma once

#include <halmark_plugin.h>

#include <cstdint>

#include "attention_task.hpp"

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

// 2^x for x <= 0, relative error below 2e-7; below 2^-126 it stays there. NaN stays NaN.
// Polynomial of Cephes exp2f on [-0.5, 0.5].
HM_CPU_INLINE Vector power_of_two(Vector x) {
  x = x < broadcast(-126.0F) ? broadcast(-126.0F) : x;
  const Vector magic = broadcast(12582912.0F);  // 1.5 * 2^23: adding it rounds to an integer
  const Vector shifted = x + magic;
  const Vector f = x - (shifted - magic);
  Vector p = broadcast(1.535336188319500e-4F);
  p = p * f + broadcast(1.339887440266574e-3F);
  p = p * f + broadcast(9.618437357674640e-3F);
  p = p * f + broadcast(5.550332471162809e-2F);
  p = p * f + broadcast(2.402264791363012e-1F);
  p = p * f + broadcast(6.931472028550421e-1F);
  p = p * f + broadcast(1.0F);
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

// ---- softmax of one row of a block, shared by both paths -----------------------------------

// Turns scores[begin, end) into weights relative to the new maximum and zeroes the rest of
// [zero_begin, zero_end). Returns the factor for what the row accumulated before. The row has
// padded_lanes floats of slack behind it.
float soften_row(float* scores, std::int64_t begin, std::int64_t end, std::int64_t zero_begin,
                 std::int64_t zero_end, float& row_max, float& row_sum) {
  if (begin >= end) {
    for (std::int64_t j = zero_begin; j < zero_end; ++j) scores[j] = 0.0F;
    return 1.0F;
  }
  const std::int64_t full = begin + (end - begin + lanes - 1) / lanes * lanes;
  for (std::int64_t j = end; j < full; ++j) scores[j] = minus_infinity;
  Vector most = load(scores + begin);
  for (std::int64_t j = begin + lanes; j < full; j += lanes) {
    most = larger(load(scores + j), most);
  }
  const Vector old_max = broadcast(row_max);
  const Vector new_max = larger(largest_lane(most), old_max);
  Vector total = Vector{};
  for (std::int64_t j = begin; j < full; j += lanes) {
    const Vector weight = power_of_two(load(scores + j) - new_max);
    store(scores + j, weight);
    total += weight;
  }
  const float factor = power_of_two(old_max - new_max)[0];
  row_sum = row_sum * factor + sum_of_lanes(total)[0];
  row_max = new_max[0];
  for (std::int64_t j = zero_begin; j < begin; ++j) scores[j] = 0.0F;
  for (std::int64_t j = end; j < zero_end; ++j) scores[j] = 0.0F;
  return factor;
}

// ---- few rows: stream keys and values ------------------------------------------------------

constexpr std::int64_t score_stride = stream_keys + padded_lanes;

// What the next phase will read, asked for a little at every step of this one: memory then works
// while the arithmetic does. K and V are two streams of short bursts, and the hardware prefetcher
// starts again at every page.
struct Ahead {
  const char* next = nullptr;
  std::int64_t lines = 0;           // left to ask for
  std::int64_t lines_per_step = 0;  // so that they last for all steps of the phase
};

HM_CPU_INLINE void step(Ahead& ahead) {
  if (ahead.lines <= 0) return;
  for (std::int64_t i = 0; i < ahead.lines_per_step; ++i) {
    __builtin_prefetch(ahead.next, 0, 2);
    ahead.next += 64;
  }
  ahead.lines -= ahead.lines_per_step;
}

HM_CPU_INLINE Ahead ahead_of(const void* next, std::int64_t bytes, std::int64_t steps) {
  const std::int64_t lines = (bytes + 63) / 64;
  return {static_cast<const char*>(next), lines, (lines + steps - 1) / steps};
}

// Scores of `Rows` queries with lanes / Rows keys: that many accumulators, reduced together.
template <int Rows, typename Element>
HM_CPU_INLINE void score_keys(const float* queries, const Element* keys, std::int64_t stride,
                              std::int64_t width, std::int64_t count, float* scores, Ahead& ahead) {
  constexpr std::int64_t group = lanes / Rows;
  for (std::int64_t j = 0; j < count; j += group) {
    const Element* key[group];
    for (std::int64_t i = 0; i < group; ++i) {
      key[i] = keys + (j + i < count ? j + i : count - 1) * stride;  // a repeated key is not used
    }
    Vector accumulators[lanes];
    HM_CPU_UNROLL
    for (std::int64_t i = 0; i < lanes; ++i) accumulators[i] = Vector{};
    for (std::int64_t d = 0; d < width; d += lanes) {
      step(ahead);
      Vector query[Rows];
      HM_CPU_UNROLL
      for (int r = 0; r < Rows; ++r) query[r] = load(queries + r * padded_width(width) + d);
      HM_CPU_UNROLL
      for (std::int64_t i = 0; i < group; ++i) {
        const Vector value = load(key[i] + d);
        HM_CPU_UNROLL
        for (int r = 0; r < Rows; ++r) accumulators[r * group + i] += query[r] * value;
      }
    }
    const Vector result = sums(accumulators);
    alignas(64) float by_row[lanes];
    store(by_row, result);
    HM_CPU_UNROLL
    for (int r = 0; r < Rows; ++r) {
      __builtin_memcpy(scores + r * score_stride + j, by_row + r * group, group * sizeof(float));
    }
  }
}

// accumulated = factor * accumulated + weights * values over `Width` vectors of columns.
template <int Rows, int Width, typename Element>
HM_CPU_INLINE void add_values(const float* weights, const float* factors, const Element* values,
                              std::int64_t stride, std::int64_t count, float* accumulated,
                              std::int64_t accumulated_stride, Ahead& ahead) {
  Vector sum[Rows][Width];
  HM_CPU_UNROLL
  for (int r = 0; r < Rows; ++r) {
    HM_CPU_UNROLL
    for (int w = 0; w < Width; ++w) {
      sum[r][w] = load(accumulated + r * accumulated_stride + w * lanes) * broadcast(factors[r]);
    }
  }
  for (std::int64_t j = 0; j < count; ++j) {
    step(ahead);
    Vector weight[Rows];
    HM_CPU_UNROLL
    for (int r = 0; r < Rows; ++r) weight[r] = broadcast(weights[r * score_stride + j]);
    HM_CPU_UNROLL
    for (int w = 0; w < Width; ++w) {
      const Vector value = load(values + j * stride + w * lanes);
      HM_CPU_UNROLL
      for (int r = 0; r < Rows; ++r) sum[r][w] += weight[r] * value;
    }
  }
  HM_CPU_UNROLL
  for (int r = 0; r < Rows; ++r) {
    HM_CPU_UNROLL
    for (int w = 0; w < Width; ++w) {
      store(accumulated + r * accumulated_stride + w * lanes, sum[r][w]);
    }
  }
}

// Vectors of columns per pass: accumulators of all rows fit the register file.
template <int Rows>
constexpr int strip = static_cast<int>(lanes / (Rows == 4 ? 4 : 2));

template <int Rows, typename Element>
HM_CPU_INLINE void add_value_rows(const float* weights, const float* factors, const Element* values,
                                  std::int64_t stride, std::int64_t width, std::int64_t count,
                                  float* accumulated, Ahead& ahead) {
  const std::int64_t wide = padded_width(width);
  std::int64_t d = 0;
  for (; d + strip<Rows> * lanes <= width; d += strip<Rows> * lanes) {
    add_values<Rows, strip<Rows>>(weights, factors, values + d, stride, count, accumulated + d,
                                  wide, ahead);
  }
  for (; d < width; d += lanes) {
    add_values<Rows, 1>(weights, factors, values + d, stride, count, accumulated + d, wide, ahead);
  }
}

template <typename Element>
void widen_block(const Element* source, std::int64_t count, std::int64_t width, float* target) {
  const std::int64_t wide = padded_width(width);
  for (std::int64_t j = 0; j < count; ++j) {
    std::int64_t d = 0;
    for (; d + lanes <= width; d += lanes) {
      store(target + j * wide + d, load(source + j * width + d));
    }
    for (; d < width; ++d) target[j * wide + d] = widened(source[j * width + d]);
    for (; d < wide; ++d) target[j * wide + d] = 0.0F;
  }
}

struct Upcoming {  // bytes that the next phase reads
  const void* begin;
  std::int64_t bytes;
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

template <int Rows>
std::int64_t score_steps(std::int64_t width, std::int64_t count) {
  return ceil_div(count * Rows, lanes) * (width / lanes);
}

template <int Rows>
std::int64_t value_steps(std::int64_t width, std::int64_t count) {
  return ceil_div(width / lanes, strip<Rows>) * count;
}

// Rows go four at a time, so that a key or value is loaded and converted once for all of them.
template <typename Element>
HM_CPU_INLINE void score_block(const float* queries, std::int64_t rows, const Element* keys,
                               std::int64_t width, std::int64_t count, float* scores,
                               const Upcoming& upcoming) {
  const std::int64_t wide = padded_width(width);
  Ahead ahead = ahead_of(upcoming.begin, upcoming.bytes,
                         rows / 4 * score_steps<4>(width, count) +
                             rows % 4 / 2 * score_steps<2>(width, count) +
                             rows % 2 * score_steps<1>(width, count));
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    score_keys<4>(queries + r * wide, keys, width, width, count, scores + r * score_stride, ahead);
  }
  for (; r + 2 <= rows; r += 2) {
    score_keys<2>(queries + r * wide, keys, width, width, count, scores + r * score_stride, ahead);
  }
  if (r < rows) {
    score_keys<1>(queries + r * wide, keys, width, width, count, scores + r * score_stride, ahead);
  }
}

template <typename Element>
HM_CPU_INLINE void value_block(const float* weights, const float* factors, std::int64_t rows,
                               const Element* values, std::int64_t width, std::int64_t count,
                               float* accumulated, const Upcoming& upcoming) {
  const std::int64_t wide = padded_width(width);
  Ahead ahead = ahead_of(upcoming.begin, upcoming.bytes,
                         rows / 4 * value_steps<4>(width, count) +
                             rows % 4 / 2 * value_steps<2>(width, count) +
                             rows % 2 * value_steps<1>(width, count));
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    add_value_rows<4>(weights + r * score_stride, factors + r, values, width, width, count,
                      accumulated + r * wide, ahead);
  }
  for (; r + 2 <= rows; r += 2) {
    add_value_rows<2>(weights + r * score_stride, factors + r, values, width, width, count,
                      accumulated + r * wide, ahead);
  }
  if (r < rows) {
    add_value_rows<1>(weights + r * score_stride, factors + r, values, width, width, count,
                      accumulated + r * wide, ahead);
  }
}

void soften_block(const AttentionTask& task, const AttentionState& state, std::int64_t first,
                  std::int64_t count, float* scores, float* factors) {
  for (std::int64_t r = 0; r < row_count(task); ++r) {
    const std::int64_t token = r / task.group;
    const std::int64_t begin = clamped(first_key(task, token) - first, 0, count);
    const std::int64_t end = clamped(last_key(task, token) - first, 0, count);
    factors[r] = soften_row(scores + r * score_stride, begin, end, 0, count, state.row_max[r],
                            state.row_sum[r]);
  }
}

template <typename Element>
void stream_typed(const AttentionTask& task, const float* queries, const AttentionState& state,
                  std::int64_t key_begin, std::int64_t key_end, float* scratch) {
  const std::int64_t width = task.head_dim;
  const std::int64_t wide = padded_width(width);
  const std::int64_t rows = row_count(task);
  float* scores = scratch;
  float* factors = scores + stream_rows_max * score_stride;
  float* block = factors + stream_rows_max;
  const auto* keys = static_cast<const Element*>(task.k);
  const auto* values = static_cast<const Element*>(task.v);
  // Conversion is free while memory is the limit; with many rows it is paid once per element.
  constexpr std::int64_t direct_rows_max = sizeof(Element) == 4 ? stream_rows_max : 8;
  const bool direct = width % padded_lanes == 0 && rows <= direct_rows_max;
  for (std::int64_t first = key_begin; first < key_end; first += stream_keys) {
    const std::int64_t count = clamped(key_end - first, 0, stream_keys);
    const Element* k = keys + first * width;
    const Element* v = values + first * width;
    const std::int64_t next = clamped(key_end - first - count, 0, stream_keys);
    const Upcoming next_values{v, count * width * static_cast<std::int64_t>(sizeof(Element))};
    const Upcoming next_keys{k + count * width,
                             next * width * static_cast<std::int64_t>(sizeof(Element))};
    if (direct) {
      score_block(queries, rows, k, width, count, scores, next_values);
    } else {
      widen_block(k, count, width, block);
      score_block(queries, rows, block, wide, count, scores, next_values);
    }
    soften_block(task, state, first, count, scores, factors);
    if (direct) {
      value_block(scores, factors, rows, v, width, count, state.accumulated, next_keys);
    } else {
      widen_block(v, count, width, block);
      value_block(scores, factors, rows, block, wide, count, state.accumulated, next_keys);
    }
  }
}

// ---- many rows: packed panels and a register-blocked micro-kernel --------------------------

// c[r] = (factors ? factors[r] * c[r] : 0) + a[r, :] b over Width vectors; b is [depth, panel].
template <int Rows, int Width>
HM_CPU_INLINE void multiply(const float* a, std::int64_t a_stride, const float* b,
                            std::int64_t depth, float* c, std::int64_t c_stride,
                            const float* factors) {
  Vector sum[Rows][Width];
  HM_CPU_UNROLL
  for (int r = 0; r < Rows; ++r) {
    HM_CPU_UNROLL
    for (int w = 0; w < Width; ++w) {
      sum[r][w] = factors != nullptr ? load(c + r * c_stride + w * lanes) * broadcast(factors[r])
                                     : Vector{};
    }
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    Vector column[Width];
    HM_CPU_UNROLL
    for (int w = 0; w < Width; ++w) column[w] = load(b + k * panel + w * lanes);
    HM_CPU_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const Vector value = broadcast(a[r * a_stride + k]);
      HM_CPU_UNROLL
      for (int w = 0; w < Width; ++w) sum[r][w] += value * column[w];
    }
  }
  HM_CPU_UNROLL
  for (int r = 0; r < Rows; ++r) {
    HM_CPU_UNROLL
    for (int w = 0; w < Width; ++w) store(c + r * c_stride + w * lanes, sum[r][w]);
  }
}

// Keys [0, count) transposed into panels [key / panel][dim][panel]; missing keys are zero.
template <typename Element>
void pack_keys(const Element* keys, std::int64_t count, std::int64_t width, float* target) {
  for (std::int64_t j = 0; j < count; j += lanes) {
    float* column = target + j / panel * panel * width + j % panel;
    for (std::int64_t d = 0; d < width; d += lanes) {
      Vector tile[lanes];
      for (std::int64_t i = 0; i < lanes; ++i) {
        const Element* source = keys + (j + i) * width + d;
        if (j + i >= count) {
          tile[i] = Vector{};
        } else if (d + lanes <= width) {
          tile[i] = load(source);
        } else {
          tile[i] = Vector{};
          for (std::int64_t e = 0; d + e < width; ++e) tile[i][e] = widened(source[e]);
        }
      }
      transpose(tile);
      for (std::int64_t i = 0; i < lanes && d + i < width; ++i) {
        store(column + (d + i) * panel, tile[i]);
      }
    }
  }
  // A last panel that is only half used is still read whole.
  if (const std::int64_t done = (count + lanes - 1) / lanes * lanes; done % panel != 0) {
    float* column = target + done / panel * panel * width + lanes;
    for (std::int64_t d = 0; d < width; ++d) store(column + d * panel, Vector{});
  }
}

// Values into panels [dim / panel][key][panel]; columns behind head_dim are zero.
template <typename Element>
void pack_values(const Element* values, std::int64_t count, std::int64_t width, float* target) {
  const std::int64_t wide = padded_width(width);
  for (std::int64_t d = 0; d < wide; d += lanes) {
    float* column = target + d / panel * panel * count + d % panel;
    for (std::int64_t j = 0; j < count; ++j) {
      const Element* source = values + j * width + d;
      Vector value = Vector{};
      if (d + lanes <= width) {
        value = load(source);
      } else {
        for (std::int64_t e = 0; d + e < width; ++e) value[e] = widened(source[e]);
      }
      store(column + j * panel, value);
    }
  }
}

struct PackedBlock {
  const float* keys;
  const float* values;
  std::int64_t first;  // key position of the block
  std::int64_t count;
};

template <int Rows>
void tile_rows(const AttentionTask& task, const float* queries, const AttentionState& state,
               std::int64_t row, const PackedBlock& block, float* scores, float* factors) {
  const std::int64_t wide = padded_width(task.head_dim);
  const std::int64_t stride = task.key_block + padded_lanes;
  const std::int64_t first_token = row / task.group;
  const std::int64_t last_token = (row + Rows - 1) / task.group;
  const std::int64_t begin = clamped(first_key(task, first_token) - block.first, 0, block.count);
  const std::int64_t end = clamped(last_key(task, last_token) - block.first, 0, block.count);
  if (begin >= end) return;
  for (std::int64_t j = begin / panel * panel; j < end; j += panel) {
    multiply<Rows, 2>(queries + row * wide, wide, block.keys + j * task.head_dim, task.head_dim,
                      scores + j, stride, nullptr);
  }
  for (int r = 0; r < Rows; ++r) {
    const std::int64_t token = (row + r) / task.group;
    factors[r] = soften_row(scores + r * stride,
                            clamped(first_key(task, token) - block.first, 0, block.count),
                            clamped(last_key(task, token) - block.first, 0, block.count), begin,
                            end, state.row_max[row + r], state.row_sum[row + r]);
  }
  float* sums_of_rows = state.accumulated + row * wide;
  std::int64_t d = 0;
  for (; d + panel <= wide; d += panel) {
    multiply<Rows, 2>(scores + begin, stride, block.values + d * block.count + begin * panel,
                      end - begin, sums_of_rows + d, wide, factors);
  }
  if (d < wide) {
    multiply<Rows, 1>(scores + begin, stride, block.values + d * block.count + begin * panel,
                      end - begin, sums_of_rows + d, wide, factors);
  }
}

void tile_block(const AttentionTask& task, const float* queries, const AttentionState& state,
                const PackedBlock& block, float* scores, float* factors) {
  const std::int64_t rows = row_count(task);
  std::int64_t r = 0;
  for (; r + micro_rows <= rows; r += micro_rows) {
    tile_rows<micro_rows>(task, queries, state, r, block, scores, factors);
  }
  for (; r + 4 <= rows; r += 4) tile_rows<4>(task, queries, state, r, block, scores, factors);
  for (; r < rows; ++r) tile_rows<1>(task, queries, state, r, block, scores, factors);
}

template <typename Element>
void tile_typed(const AttentionTask& task, const float* queries, const AttentionState& state,
                std::int64_t key_begin, std::int64_t key_end, float* scratch) {
  const std::int64_t width = task.head_dim;
  float* keys = scratch;
  float* values = keys + task.key_block * (padded_width(width) + 2 * padded_lanes);
  float* scores = values + task.key_block * (padded_width(width) + 2 * padded_lanes);
  float* factors = scores + micro_rows * (task.key_block + padded_lanes);
  for (std::int64_t first = key_begin; first < key_end; first += task.key_block) {
    const std::int64_t count = clamped(key_end - first, 0, task.key_block);
    pack_keys(static_cast<const Element*>(task.k) + first * width, count, width, keys);
    pack_values(static_cast<const Element*>(task.v) + first * width, count, width, values);
    tile_block(task, queries, state,
               {.keys = keys, .values = values, .first = first, .count = count}, scores, factors);
  }
}

// ---- rows in and out -----------------------------------------------------------------------

template <typename Element>
void load_typed(const AttentionTask& task, float* queries) {
  const std::int64_t wide = padded_width(task.head_dim);
  const float scale =
      static_cast<float>(1.4426950408889634 / __builtin_sqrt(static_cast<double>(task.head_dim)));
  for (std::int64_t r = 0; r < row_count(task); ++r) {
    const Element* source = static_cast<const Element*>(task.q) +
                            r / task.group * task.token_stride + r % task.group * task.head_dim;
    float* target = queries + r * wide;
    for (std::int64_t d = 0; d < task.head_dim; ++d) target[d] = widened(source[d]) * scale;
    for (std::int64_t d = task.head_dim; d < wide; ++d) target[d] = 0.0F;
  }
}

HM_CPU_INLINE std::uint16_t narrowed(float value) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40U;
  return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded);
}

void load_queries(const AttentionTask& task, float* queries) {
  if (task.q_dtype == HM_DTYPE_BF16) {
    load_typed<std::uint16_t>(task, queries);
  } else {
    load_typed<float>(task, queries);
  }
}

void reset(const AttentionTask& task, const AttentionState& state) {
  const std::int64_t rows = row_count(task);
  for (std::int64_t i = 0; i < rows * padded_width(task.head_dim); ++i) state.accumulated[i] = 0.0F;
  for (std::int64_t r = 0; r < rows; ++r) {
    state.row_max[r] = minus_infinity;
    state.row_sum[r] = 0.0F;
  }
}

void stream(const AttentionTask& task, const float* queries, const AttentionState& state,
            std::int64_t key_begin, std::int64_t key_end, float* scratch) {
  if (task.kv_dtype == HM_DTYPE_BF16) {
    stream_typed<std::uint16_t>(task, queries, state, key_begin, key_end, scratch);
  } else {
    stream_typed<float>(task, queries, state, key_begin, key_end, scratch);
  }
}

void tile(const AttentionTask& task, const float* queries, const AttentionState& state,
          std::int64_t key_begin, std::int64_t key_end, float* scratch) {
  if (task.kv_dtype == HM_DTYPE_BF16) {
    tile_typed<std::uint16_t>(task, queries, state, key_begin, key_end, scratch);
  } else {
    tile_typed<float>(task, queries, state, key_begin, key_end, scratch);
  }
}

void merge(const AttentionTask& task, const AttentionState& into, const AttentionState& from) {
  const std::int64_t wide = padded_width(task.head_dim);
  for (std::int64_t r = 0; r < row_count(task); ++r) {
    if (from.row_sum[r] == 0.0F) continue;  // saw no key of this row
    const float most = into.row_max[r] > from.row_max[r] ? into.row_max[r] : from.row_max[r];
    const float old_factor = power_of_two(into.row_max[r] - most);
    const float new_factor = power_of_two(from.row_max[r] - most);
    for (std::int64_t d = 0; d < wide; ++d) {
      into.accumulated[r * wide + d] =
          into.accumulated[r * wide + d] * old_factor + from.accumulated[r * wide + d] * new_factor;
    }
    into.row_sum[r] = into.row_sum[r] * old_factor + from.row_sum[r] * new_factor;
    into.row_max[r] = most;
  }
}

void store_rows(const AttentionTask& task, const AttentionState& state) {
  const std::int64_t wide = padded_width(task.head_dim);
  for (std::int64_t r = 0; r < row_count(task); ++r) {
    const std::int64_t offset = r / task.group * task.token_stride + r % task.group * task.head_dim;
    const float* source = state.accumulated + r * wide;
    const float inverse = 1.0F / state.row_sum[r];
    if (task.dst_dtype == HM_DTYPE_BF16) {
      auto* target = static_cast<std::uint16_t*>(task.dst) + offset;
      for (std::int64_t d = 0; d < task.head_dim; ++d) target[d] = narrowed(source[d] * inverse);
    } else {
      float* target = static_cast<float*>(task.dst) + offset;
      for (std::int64_t d = 0; d < task.head_dim; ++d) target[d] = source[d] * inverse;
    }
  }
}

constexpr AttentionParts parts = {
    .load_queries = load_queries,
    .reset = reset,
    .stream = stream,
    .tile = tile,
    .merge = merge,
    .store = store_rows,
};

}  // namespace
}  // namespace hm_cpu
