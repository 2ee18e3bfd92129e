// Micro-kernels of the panel gemm: a few rows of A against one panel of 32 columns, accumulators in
// registers, weights streamed once. HM_CPU_LANES floats make a vector; see simd_scalar.hpp.
#pragma once

#include "simd.hpp"
#include "simd_scalar.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace hm_cpu {
namespace {

constexpr int lanes = HM_CPU_LANES;
constexpr int micro_rows = HM_CPU_MICRO_ROWS;  // times two vectors of accumulators
typedef float Vector __attribute__((vector_size(lanes * 4)));
typedef std::int32_t IntVector __attribute__((vector_size(lanes * 4)));
typedef std::uint32_t BitVector __attribute__((vector_size(lanes * 4)));
typedef std::int16_t ShortVector __attribute__((vector_size(lanes * 4)));

#define HM_CPU_UNROLL _Pragma("GCC unroll 16")

template <typename V>
HM_CPU_INLINE V load_as(const void* source) {
  V value;
  __builtin_memcpy(&value, source, sizeof value);
  return value;
}

// Vectors of columns per pass over a panel: all of them when the accumulators fit, so that its
// lines are read in order; at least two.
constexpr int vectors_of(int rows) {
  int vectors = static_cast<int>(panel_columns) / lanes;
  while (vectors > 2 && rows * vectors > 2 * micro_rows) vectors /= 2;
  return vectors;
}

// x - 0 is x for every x, so this is one broadcast; x + 0 would not be (-0).
HM_CPU_INLINE Vector broadcast(float value) { return value - Vector{}; }
HM_CPU_INLINE IntVector broadcast(std::int32_t value) { return value - IntVector{}; }

HM_CPU_INLINE void store_columns(const float* from, void* to, int columns, bool bf16) {
  if (bf16) {
    Bf16* target = static_cast<Bf16*>(to);
    for (int i = 0; i < columns; ++i) narrow(from[i], target[i]);
  } else {
    __builtin_memcpy(to, from, static_cast<unsigned>(columns) * sizeof(float));
  }
}

// Writes what exists in dst of one strip.
template <int rows, int vectors, typename V>
HM_CPU_INLINE void store_strip(const PanelTask& task, int first, const V (&sums)[rows][vectors]) {
  constexpr int strip = vectors * lanes;
  const int columns = task.columns - first < strip ? task.columns - first : strip;
  if (columns <= 0) return;
  const int width = task.dst_bf16 ? 2 : 4;
  for (int r = 0; r < rows; ++r) {
    alignas(64) float values[strip];
    __builtin_memcpy(values, sums[r], sizeof values);
    char* target = static_cast<char*>(task.dst) + (r * task.dst_stride + first) * width;
    if (columns == strip && !task.dst_bf16) {
      __builtin_memcpy(target, values, sizeof values);
      continue;
    }
    store_columns(values, target, columns, task.dst_bf16);
  }
}

// Adds what dst holds, in f32: the sums over the blocks of k before this one.
template <int rows, int vectors>
HM_CPU_INLINE void add_stored(const PanelTask& task, int first, Vector (&sums)[rows][vectors]) {
  constexpr int strip = vectors * lanes;
  const int columns = task.columns - first < strip ? task.columns - first : strip;
  for (int r = 0; r < rows; ++r) {
    alignas(64) float values[strip] = {};
    const float* stored = static_cast<const float*>(task.dst) + r * task.dst_stride + first;
    if (columns == strip) {
      __builtin_memcpy(values, stored, sizeof values);
    } else {
      __builtin_memcpy(values, stored, static_cast<unsigned>(columns) * sizeof(float));
    }
    for (int v = 0; v < vectors; ++v) sums[r][v] += load_as<Vector>(values + v * lanes);
  }
}

// One k: every row's value against every vector of weights. Rows outside, so that a broadcast is
// used up before the next: the other order spills accumulators.
template <int rows, int vectors>
HM_CPU_INLINE void add_products(const float* a, const Vector (&weights)[vectors],
                                Vector (&sums)[rows][vectors]) {
  HM_CPU_UNROLL
  for (int r = 0; r < rows; ++r) {
    const Vector value = broadcast(a[r]);
    HM_CPU_UNROLL
    for (int v = 0; v < vectors; ++v) sums[r][v] += value * weights[v];
  }
}

// A is [k][rows]; the panel is [k][32].
template <int rows>
void panel_f32(const PanelTask& task) {
  constexpr int vectors = vectors_of(rows);
  for (int first = 0; first < task.columns; first += vectors * lanes) {
    const float* w = static_cast<const float*>(task.panel) + task.begin * panel_columns + first;
    const float* a = static_cast<const float*>(task.a) + task.begin * rows;
    Vector sums[rows][vectors] = {};
    for (std::int64_t k = 0; k < task.groups; ++k, w += panel_columns, a += rows) {
      Vector weights[vectors];
      HM_CPU_UNROLL
      for (int v = 0; v < vectors; ++v) weights[v] = load_as<Vector>(w + v * lanes);
      add_products<rows>(a, weights, sums);
    }
    if (task.adds) add_stored<rows, vectors>(task, first, sums);
    store_strip<rows, vectors>(task, first, sums);
  }
}

#if defined(__AVX512BF16__)
// A is bf16 [k/2][rows][2], the panel [k/2][32][2]: a word of each is what the instruction
// multiplies.
template <int rows>
void panel_bf16(const PanelTask& task) {
  constexpr int vectors = vectors_of(rows);
  for (int first = 0; first < task.columns; first += vectors * lanes) {
    const std::uint32_t* w = static_cast<const std::uint32_t*>(task.panel) + first;
    const std::int32_t* a = static_cast<const std::int32_t*>(task.a);
    __m512 sums[rows][vectors] = {};
    for (std::int64_t k = 0; k < task.groups; ++k, w += panel_columns, a += rows) {
      __m512bh weights[vectors];
      HM_CPU_UNROLL
      for (int v = 0; v < vectors; ++v) weights[v] = load_as<__m512bh>(w + v * lanes);
      HM_CPU_UNROLL
      for (int r = 0; r < rows; ++r) {
        const auto value = __builtin_bit_cast(__m512bh, _mm512_set1_epi32(a[r]));
        HM_CPU_UNROLL
        for (int v = 0; v < vectors; ++v) {
          sums[r][v] = _mm512_dpbf16_ps(sums[r][v], value, weights[v]);
        }
      }
    }
    store_strip<rows, vectors>(task, first, sums);
  }
}
#else
// A is f32 [k/2][2][rows]; the panel is [k/2][32][2]: a word holds two consecutive k of one column,
// so a shift and a mask turn it into two f32 vectors without any shuffle.
template <int rows>
void panel_bf16(const PanelTask& task) {
  constexpr int vectors = vectors_of(rows);
  for (int first = 0; first < task.columns; first += vectors * lanes) {
    const std::uint32_t* w = static_cast<const std::uint32_t*>(task.panel) + first;
    const float* a = static_cast<const float*>(task.a);
    Vector sums[rows][vectors] = {};
    for (std::int64_t k = 0; k < task.groups; ++k, w += panel_columns, a += 2 * rows) {
      BitVector words[vectors];
      Vector even[vectors], odd[vectors];
      HM_CPU_UNROLL
      for (int v = 0; v < vectors; ++v) words[v] = load_as<BitVector>(w + v * lanes);
      HM_CPU_UNROLL
      for (int v = 0; v < vectors; ++v) even[v] = __builtin_bit_cast(Vector, words[v] << 16);
      add_products<rows>(a, even, sums);
      HM_CPU_UNROLL
      for (int v = 0; v < vectors; ++v) {
        odd[v] = __builtin_bit_cast(Vector, words[v] & 0xffff0000U);
      }
      add_products<rows>(a + rows, odd, sums);
    }
    store_strip<rows, vectors>(task, first, sums);
  }
}
#endif

// Sums of products of neighbouring s16 pairs.
HM_CPU_INLINE IntVector multiply_pairs(ShortVector x, IntVector pairs) {
#if defined(__AVX512BW__)
  return __builtin_bit_cast(IntVector, _mm512_madd_epi16(__builtin_bit_cast(__m512i, x),
                                                         __builtin_bit_cast(__m512i, pairs)));
#elif defined(__AVX2__)
  return __builtin_bit_cast(IntVector, _mm256_madd_epi16(__builtin_bit_cast(__m256i, x),
                                                         __builtin_bit_cast(__m256i, pairs)));
#elif defined(__SSE2__)
  return __builtin_bit_cast(IntVector, _mm_madd_epi16(__builtin_bit_cast(__m128i, x),
                                                      __builtin_bit_cast(__m128i, pairs)));
#elif defined(__aarch64__)
  const auto y = __builtin_bit_cast(int16x8_t, pairs);
  const auto s = __builtin_bit_cast(int16x8_t, x);
  return __builtin_bit_cast(
      IntVector, vpaddq_s32(vmull_s16(vget_low_s16(s), vget_low_s16(y)), vmull_high_s16(s, y)));
#else
  const auto words = __builtin_bit_cast(IntVector, x);
  return ((words << 16) >> 16) * ((pairs << 16) >> 16) + (words >> 16) * (pairs >> 16);
#endif
}

template <int rows, int vectors>
HM_CPU_INLINE void add_pairs(const std::int32_t* a, const ShortVector (&weights)[vectors],
                             IntVector (&sums)[rows][vectors]) {
  HM_CPU_UNROLL
  for (int r = 0; r < rows; ++r) {
    const IntVector value = broadcast(a[r]);
    HM_CPU_UNROLL
    for (int v = 0; v < vectors; ++v) sums[r][v] += multiply_pairs(weights[v], value);
  }
}

// The panel is s8 [k/4][32][4], then the sum of each column in s32 [32].
#if defined(__AVX512VNNI__)
// A is u8 = a + 128, four k to a word, [k/4][rows]; 128 times the column sum is taken off again.
template <int rows>
void panel_s8(const PanelTask& task) {
  constexpr int vectors = vectors_of(rows);
  for (int first = 0; first < task.columns; first += vectors * lanes) {
    const std::int32_t* w = static_cast<const std::int32_t*>(task.panel) + first;
    const std::int32_t* a = static_cast<const std::int32_t*>(task.a);
    __m512i sums[rows][vectors] = {};
    for (std::int64_t k = 0; k < task.groups; ++k, w += panel_columns, a += rows) {
      __m512i weights[vectors];
      HM_CPU_UNROLL
      for (int v = 0; v < vectors; ++v) weights[v] = load_as<__m512i>(w + v * lanes);
      HM_CPU_UNROLL
      for (int r = 0; r < rows; ++r) {
        const __m512i value = _mm512_set1_epi32(a[r]);
        HM_CPU_UNROLL
        for (int v = 0; v < vectors; ++v) {
          sums[r][v] = _mm512_dpbusd_epi32(sums[r][v], value, weights[v]);
        }
      }
    }
    IntVector exact[rows][vectors];
    for (int v = 0; v < vectors; ++v) {
      const auto bias = load_as<IntVector>(w + v * lanes) << 7;
      for (int r = 0; r < rows; ++r) {
        exact[r][v] = __builtin_bit_cast(IntVector, sums[r][v]) - bias;
      }
    }
    store_strip<rows, vectors>(task, first, exact);
  }
}
#elif defined(__ARM_FEATURE_DOTPROD)
// A is u8 = a + 128, four k to a word, [k/4][rows]; flipping the top bit gives a back.
template <int rows>
void panel_s8(const PanelTask& task) {
  constexpr int vectors = vectors_of(rows);
  for (int first = 0; first < task.columns; first += vectors * lanes) {
    const std::int32_t* w = static_cast<const std::int32_t*>(task.panel) + first;
    const std::uint32_t* a = static_cast<const std::uint32_t*>(task.a);
    int32x4_t sums[rows][vectors] = {};
    for (std::int64_t k = 0; k < task.groups; ++k, w += panel_columns, a += rows) {
      int8x16_t weights[vectors];
      HM_CPU_UNROLL
      for (int v = 0; v < vectors; ++v) weights[v] = load_as<int8x16_t>(w + v * lanes);
      HM_CPU_UNROLL
      for (int r = 0; r < rows; ++r) {
        const int8x16_t value = vreinterpretq_s8_u32(vdupq_n_u32(a[r] ^ 0x80808080U));
        HM_CPU_UNROLL
        for (int v = 0; v < vectors; ++v) sums[r][v] = vdotq_s32(sums[r][v], weights[v], value);
      }
    }
    store_strip<rows, vectors>(task, first, sums);
  }
}
#else
// A is s16 pairs (k, k+2) and (k+1, k+3), [k/4][2][rows]: even and odd bytes of a word become s16
// by shifts alone.
template <int rows>
void panel_s8(const PanelTask& task) {
  constexpr int vectors = vectors_of(rows);
  for (int first = 0; first < task.columns; first += vectors * lanes) {
    const std::int32_t* w = static_cast<const std::int32_t*>(task.panel) + first;
    const std::int32_t* a = static_cast<const std::int32_t*>(task.a);
    IntVector sums[rows][vectors] = {};
    for (std::int64_t k = 0; k < task.groups; ++k, w += panel_columns, a += 2 * rows) {
      ShortVector words[vectors], even[vectors], odd[vectors];
      HM_CPU_UNROLL
      for (int v = 0; v < vectors; ++v) words[v] = load_as<ShortVector>(w + v * lanes);
      HM_CPU_UNROLL
      for (int v = 0; v < vectors; ++v) even[v] = (words[v] << 8) >> 8;
      add_pairs<rows>(a, even, sums);
      HM_CPU_UNROLL
      for (int v = 0; v < vectors; ++v) odd[v] = words[v] >> 8;
      add_pairs<rows>(a + rows, odd, sums);
    }
    store_strip<rows, vectors>(task, first, sums);
  }
}
#endif

// The number of rows becomes a constant, so that the accumulators are registers.
#define HM_CPU_BY_ROWS(loop)                                  \
  template <int rows = micro_rows>                            \
  void loop##_of(const PanelTask& task) {                     \
    if (task.rows == rows) return loop<rows>(task);           \
    if constexpr (rows > 1) return loop##_of<rows - 1>(task); \
  }
HM_CPU_BY_ROWS(panel_f32)
HM_CPU_BY_ROWS(panel_bf16)
HM_CPU_BY_ROWS(panel_s8)

constexpr PanelLoops panel_loops = {
    .rows_max = micro_rows,
#if defined(__AVX512VNNI__) || defined(__ARM_FEATURE_DOTPROD)
    .s8_biased = true,
#else
    .s8_biased = false,
#endif
#if defined(__AVX512BF16__)
    .bf16_paired = true,
#else
    .bf16_paired = false,
#endif
    .f32 = panel_f32_of<>,
    .bf16 = panel_bf16_of<>,
    .s8 = panel_s8_of<>,
};

}  // namespace
}  // namespace hm_cpu
