// Many rows of bf16: products of pairs that the processor sums in f32. Queries, keys and values
// stay as they are given, weights are rounded to bf16, which the contract allows. One layout serves
// vectors and tiles: panels of 32 columns, row after row of them a pair of terms for each column.
#pragma once

#include <immintrin.h>

#include "rows.hpp"

namespace hm_cpu {
namespace {

using Bf16 = std::uint16_t;
constexpr std::int64_t pair_columns = 32;
constexpr std::int64_t pair_row = 2 * pair_columns;  // elements

// Depths and keys are padded with zeros to this.
std::int64_t pair_width(std::int64_t n) {
  return (n + pair_columns - 1) / pair_columns * pair_columns;
}

// c = (adds ? c : 0) + a b; b is a panel. `rows` is at most Unit::rows, columns 16 or 32.
struct PairProduct {
  const Bf16* a;
  std::int64_t a_stride;
  const Bf16* b;
  std::int64_t depth;  // of Unit::depth
  float* c;
  std::int64_t c_stride;
  std::int64_t rows, columns;
  bool adds;
};

// Up to 32 elements, zero behind `count`.
HM_CPU_INLINE __m512i load_pairs(const Bf16* source, std::int64_t count) {
  const auto wanted = static_cast<__mmask32>(count >= 32 ? ~0U : (1U << count) - 1U);
  return _mm512_maskz_loadu_epi16(wanted, source);
}

// Keys into panels [key / 32][pair of dims][32 keys].
void pack_pairs_of_keys(const Bf16* keys, std::int64_t count, std::int64_t width, Bf16* target) {
  const std::int64_t deep = pair_width(width);
  for (std::int64_t j = 0; j < pair_width(count); j += lanes) {
    Bf16* column = target + j / pair_columns * pair_columns * deep + j % pair_columns * 2;
    for (std::int64_t d = 0; d < deep; d += 2 * lanes) {
      Vector tile[lanes];
      for (std::int64_t i = 0; i < lanes; ++i) {
        const Bf16* source = keys + (j + i) * width + d;
        tile[i] = j + i < count && d < width
                      ? __builtin_bit_cast(Vector, load_pairs(source, width - d))
                      : Vector{};
      }
      transpose(tile);
      for (std::int64_t i = 0; i < lanes; ++i) {
        __builtin_memcpy(column + (d / 2 + i) * pair_row, &tile[i], sizeof tile[i]);
      }
    }
  }
}

// Values into panels [dim / 32][pair of keys][32 dims].
void pack_pairs_of_values(const Bf16* values, std::int64_t count, std::int64_t width,
                          Bf16* target) {
  constexpr std::int64_t upper = lanes * 2;  // elements of one vector
  const __m512i first = _mm512_add_epi16(
      _mm512_slli_epi32(_mm512_set1_epi32(32), 16),
      _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                         _mm512_set1_epi32(0x00010001)));
  const __m512i second = _mm512_add_epi16(first, _mm512_set1_epi16(16));
  for (std::int64_t d = 0; d < width; d += pair_columns) {
    Bf16* panel_of = target + d * pair_width(count);
    for (std::int64_t j = 0; j < pair_width(count); j += 2) {
      const Bf16* source = values + j * width + d;
      const __m512i even = j < count ? load_pairs(source, width - d) : _mm512_setzero_si512();
      const __m512i odd =
          j + 1 < count ? load_pairs(source + width, width - d) : _mm512_setzero_si512();
      Bf16* row = panel_of + j / 2 * pair_row;
      _mm512_storeu_si512(row, _mm512_permutex2var_epi16(even, first, odd));
      _mm512_storeu_si512(row + upper, _mm512_permutex2var_epi16(even, second, odd));
    }
  }
}

std::int64_t pair_floats(std::int64_t head_dim, std::int64_t key_block) {
  return key_block * pair_width(head_dim) / 2;  // of keys or of values
}
std::int64_t pair_block_floats(std::int64_t head_dim, std::int64_t key_block) {
  return 2 * pair_floats(head_dim, key_block);
}

void pack_pairs(const AttentionTask& task, std::int64_t first, std::int64_t count, float* block) {
  const std::int64_t width = task.head_dim;
  pack_pairs_of_keys(static_cast<const Bf16*>(task.k) + first * width, count, width,
                     reinterpret_cast<Bf16*>(block));
  pack_pairs_of_values(static_cast<const Bf16*>(task.v) + first * width, count, width,
                       reinterpret_cast<Bf16*>(block + pair_floats(width, task.key_block)));
}

// Unscaled: what was bf16 stays exact.
void load_pair_queries(const AttentionTask& task, float* queries) {
  const std::int64_t deep = pair_width(task.head_dim);
  auto* target = reinterpret_cast<Bf16*>(queries);
  for (std::int64_t r = 0; r < padded_rows(row_count(task)); ++r, target += deep) {
    const Bf16* source = static_cast<const Bf16*>(task.q) + r / task.group * task.token_stride +
                         r % task.group * task.head_dim;
    for (std::int64_t d = 0; d < deep; d += pair_columns) {
      const std::int64_t count = r < row_count(task) ? clamped(task.head_dim - d, 0, 32) : 0;
      _mm512_storeu_si512(target + d,
                          count > 0 ? load_pairs(source + d, count) : _mm512_setzero_si512());
    }
  }
}

void reset_padded(const AttentionTask& task, const AttentionState& state) {
  const std::int64_t rows = padded_rows(row_count(task));
  for (std::int64_t i = 0; i < rows * padded_width(task.head_dim); ++i) state.accumulated[i] = 0.0F;
  for (std::int64_t r = 0; r < row_count(task); ++r) {
    state.row_max[r] = minus_infinity;
    state.row_sum[r] = 0.0F;
  }
}

// 2^x for x <= 0; 0 far below. NaN stays NaN.
HM_CPU_INLINE Vector pair_weight(Vector x) {
  x = larger(broadcast(-200.0F), x);
  const Vector magic = broadcast(12582912.0F);  // 1.5 * 2^23: adding it rounds to an integer
  const Vector whole = (x + magic) - magic;
  return _mm512_maskz_scalef_ps(0xffff, power_of_fraction(x - whole), whole);
}

// Keys of a block: those a row sees, and the whole panels of them that its micro-tile computes.
struct KeySpan {
  std::int64_t begin, end, panels_begin, panels_end;
};

// Raw scores of a row become weights of bf16 relative to the new maximum, zero outside of what the
// row sees. Returns the factor for what the row accumulated before.
HM_CPU_INLINE float soften_pairs(float* scores, Bf16* weights, float scale, const KeySpan& keys,
                                 float& row_max, float& row_sum) {
  if (keys.begin >= keys.end) {
    for (std::int64_t j = keys.panels_begin; j < keys.panels_end; ++j) weights[j] = 0;
    return 1.0F;
  }
  for (std::int64_t j = keys.panels_begin; j < keys.begin; ++j) scores[j] = minus_infinity;
  for (std::int64_t j = keys.end; j < keys.panels_end; ++j) scores[j] = minus_infinity;
  Vector most = load(scores + keys.panels_begin);
  Vector other = load(scores + keys.panels_begin + lanes);
  for (std::int64_t j = keys.panels_begin + 2 * lanes; j < keys.panels_end; j += 2 * lanes) {
    most = larger(load(scores + j), most);
    other = larger(load(scores + j + lanes), other);
  }
  const float highest = largest_lane(larger(most, other))[0] * scale;
  const float new_max = highest > row_max ? highest : row_max;
  const Vector times = broadcast(scale), less = broadcast(new_max);
  Vector total = Vector{}, total_of_upper = Vector{};
  for (std::int64_t j = keys.panels_begin; j < keys.panels_end; j += 2 * lanes) {
    const Vector low = pair_weight(load(scores + j) * times - less);
    const Vector high = pair_weight(load(scores + j + lanes) * times - less);
    total += low;
    total_of_upper += high;
    const __m512bh both = _mm512_cvtne2ps_pbh(high, low);
    __builtin_memcpy(weights + j, &both, sizeof both);
  }
  const float factor = row_max == new_max ? 1.0F : pair_weight(broadcast(row_max - new_max))[0];
  row_sum = row_sum * factor + sum_of_lanes(total + total_of_upper)[0];
  row_max = new_max;
  return factor;
}

struct PairBlock {
  const Bf16* keys;
  const Bf16* values;
  std::int64_t first;  // key position of the block
  std::int64_t count;
};

template <class Unit>
void pair_rows(const AttentionTask& task, const Bf16* queries, const AttentionState& state,
               std::int64_t row, std::int64_t rows, const PairBlock& block, float* scores) {
  const std::int64_t wide = padded_width(task.head_dim), deep = pair_width(task.head_dim);
  const std::int64_t stride = task.key_block + padded_lanes;
  const std::int64_t weight_stride = task.key_block + 2 * padded_lanes;
  auto* weights = reinterpret_cast<Bf16*>(scores + tile_rows_padding * stride);
  const auto sees_from = [&](std::int64_t r) {
    return clamped(first_key(task, r / task.group) - block.first, 0, block.count);
  };
  const auto sees_to = [&](std::int64_t r) {
    return clamped(last_key(task, r / task.group) - block.first, 0, block.count);
  };
  std::int64_t begin = sees_from(row), end = sees_to(row + rows - 1);
  if (begin >= end) return;
  begin = begin / Unit::depth * Unit::depth;
  end = (end + Unit::depth - 1) / Unit::depth * Unit::depth;
  const std::int64_t from = begin / pair_columns * pair_columns, to = pair_width(end);
  const std::int64_t depth = (task.head_dim + Unit::depth - 1) / Unit::depth * Unit::depth;
  for (std::int64_t j = from; j < to; j += pair_columns) {
    Unit::multiply({queries + row * deep, deep, block.keys + j * deep, depth, scores + j, stride,
                    rows, pair_columns, false});
  }
  const float scale = score_scale(task.head_dim);
  for (std::int64_t r = 0; r < rows; ++r) {
    const float factor = soften_pairs(scores + r * stride, weights + r * weight_stride, scale,
                                      {sees_from(row + r), sees_to(row + r), from, to},
                                      state.row_max[row + r], state.row_sum[row + r]);
    if (factor == 1.0F) continue;
    float* sum = state.accumulated + (row + r) * wide;
    for (std::int64_t d = 0; d < wide; d += lanes) store(sum + d, load(sum + d) * factor);
  }
  for (std::int64_t r = rows; r < Unit::whole_rows(rows); ++r) {
    for (std::int64_t j = from; j < to; ++j) weights[r * weight_stride + j] = 0;
  }
  for (std::int64_t d = 0; d < wide; d += pair_columns) {
    Unit::multiply({weights + begin, weight_stride,
                    block.values + d * pair_width(block.count) + begin * pair_columns, end - begin,
                    state.accumulated + row * wide + d, wide, rows,
                    clamped(wide - d, 0, pair_columns), true});
  }
}

template <class Unit>
void pair_tile(const AttentionTask& task, const float* queries, const AttentionState& state,
               std::int64_t key_begin, std::int64_t key_end, float* scratch) {
  [[maybe_unused]] const Unit unit;
  const std::int64_t rows = row_count(task);
  for_each_block(task, key_begin, key_end, pair_block_floats(task.head_dim, task.key_block),
                 [&](std::int64_t first, std::int64_t count, const float* packed) {
                   const PairBlock block{reinterpret_cast<const Bf16*>(packed),
                                         reinterpret_cast<const Bf16*>(
                                             packed + pair_floats(task.head_dim, task.key_block)),
                                         first, count};
                   for (std::int64_t r = 0; r < rows; r += Unit::rows) {
                     pair_rows<Unit>(task, reinterpret_cast<const Bf16*>(queries), state, r,
                                     clamped(rows - r, 0, Unit::rows), block, scratch);
                   }
                 });
}

template <class Unit>
constexpr AttentionParts pair_parts = {
    .load_queries = load_pair_queries,
    .reset = reset_padded,
    .stream = nullptr,
    .block_floats = pair_block_floats,
    .pack = pack_pairs,
    .tile = pair_tile<Unit>,
    .merge = nullptr,
    .store = store_rows,
};

}  // namespace
}  // namespace hm_cpu
