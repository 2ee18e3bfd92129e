// Prefill of bf16 on 512-bit vectors with VDPBF16PS: twice the products of an f32 FMA.
#define HM_CPU_LANES 16
#define HM_CPU_MICRO_ROWS 12
#include "pairs.hpp"

namespace hm_cpu {
namespace {

template <int Rows, int Width>
HM_CPU_INLINE void multiply_rows(const PairProduct& p, std::int64_t row) {
  const Bf16* a = p.a + row * p.a_stride;
  float* c = p.c + row * p.c_stride;
  __m512 sum[Rows][Width];
  HM_CPU_UNROLL
  for (int r = 0; r < Rows; ++r) {
    HM_CPU_UNROLL
    for (int w = 0; w < Width; ++w) {
      sum[r][w] = p.adds ? _mm512_loadu_ps(c + r * p.c_stride + w * lanes) : _mm512_setzero_ps();
    }
  }
  for (std::int64_t k = 0; k < p.depth; k += 2) {
    __m512bh column[Width];
    HM_CPU_UNROLL
    for (int w = 0; w < Width; ++w) {
      __builtin_memcpy(&column[w], p.b + k * pair_columns + w * 2 * lanes, sizeof column[w]);
    }
    HM_CPU_UNROLL
    for (int r = 0; r < Rows; ++r) {
      std::int32_t pair;
      __builtin_memcpy(&pair, a + r * p.a_stride + k, sizeof pair);
      const auto value = __builtin_bit_cast(__m512bh, _mm512_set1_epi32(pair));
      HM_CPU_UNROLL
      for (int w = 0; w < Width; ++w) sum[r][w] = _mm512_dpbf16_ps(sum[r][w], value, column[w]);
    }
  }
  HM_CPU_UNROLL
  for (int r = 0; r < Rows; ++r) {
    HM_CPU_UNROLL
    for (int w = 0; w < Width; ++w) _mm512_storeu_ps(c + r * p.c_stride + w * lanes, sum[r][w]);
  }
}

struct VectorPairs {
  static constexpr std::int64_t rows = micro_rows;
  static constexpr std::int64_t depth = 2;
  static constexpr std::int64_t whole_rows(std::int64_t some) { return some; }

  template <int Width>
  static void multiply_columns(const PairProduct& p) {
    std::int64_t r = 0;
    for (; r + micro_rows <= p.rows; r += micro_rows) multiply_rows<micro_rows, Width>(p, r);
    for (; r + 4 <= p.rows; r += 4) multiply_rows<4, Width>(p, r);
    for (; r < p.rows; ++r) multiply_rows<1, Width>(p, r);
  }

  static void multiply(const PairProduct& p) {
    if (p.columns == pair_columns) return multiply_columns<2>(p);
    multiply_columns<1>(p);
  }
};

}  // namespace

const AttentionParts& attention_parts_avx512_bf16() { return pair_parts<VectorPairs>; }

}  // namespace hm_cpu
