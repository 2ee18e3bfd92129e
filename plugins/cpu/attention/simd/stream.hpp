// Few rows of queries: memory is the limit, so keys and values are streamed once, and the next of
// them are asked for while this block is computed.
#pragma once

#include "soften.hpp"

namespace hm_cpu {
namespace {

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

}  // namespace
}  // namespace hm_cpu
