// Prefill of bf16 on tiles (TDPBF16PS): two times two of 16 rows by 16 columns.
#define HM_CPU_LANES 16
#define HM_CPU_MICRO_ROWS 12
#include "pairs.hpp"

namespace hm_cpu {
namespace {

constexpr std::int64_t tile_rows = 16, tile_columns = 16, tile_depth = 32;

// Palette 1: eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t bytes[64] = {};
  constexpr TileConfig() {
    bytes[0] = 1;
    for (int tile = 0; tile < 8; ++tile) {
      bytes[16 + 2 * tile] = 64;
      bytes[48 + tile] = 16;
    }
  }
};
constexpr TileConfig tile_config;

// The intrinsics of GCC do not say that they read memory.
HM_CPU_INLINE void settle_memory() { __asm__ volatile("" ::: "memory"); }

// Tiles 0 to 3 are sums, 4 and 5 rows of a, 6 and 7 columns of b.
template <int Down, int Across>
HM_CPU_INLINE void multiply_tiles(const PairProduct& p) {
  const std::int64_t c_bytes = p.c_stride * 4, a_bytes = p.a_stride * 2, b_bytes = pair_row * 2;
  float* below = p.c + tile_rows * p.c_stride;
  settle_memory();
  if (p.adds) {
    _tile_loadd(0, p.c, c_bytes);
    if constexpr (Across > 1) _tile_loadd(1, p.c + tile_columns, c_bytes);
    if constexpr (Down > 1) _tile_loadd(2, below, c_bytes);
    if constexpr (Down > 1 && Across > 1) _tile_loadd(3, below + tile_columns, c_bytes);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (std::int64_t k = 0; k < p.depth; k += tile_depth) {
    const Bf16* b = p.b + k * pair_columns;
    _tile_loadd(6, b, b_bytes);
    _tile_loadd(4, p.a + k, a_bytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (Across > 1) {
      _tile_loadd(7, b + 2 * tile_columns, b_bytes);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (Down > 1) {
      _tile_loadd(5, p.a + tile_rows * p.a_stride + k, a_bytes);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (Across > 1) _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, p.c, c_bytes);
  if constexpr (Across > 1) _tile_stored(1, p.c + tile_columns, c_bytes);
  if constexpr (Down > 1) _tile_stored(2, below, c_bytes);
  if constexpr (Down > 1 && Across > 1) _tile_stored(3, below + tile_columns, c_bytes);
  settle_memory();
}

// The thread's tiles are configured for as long as this lives, and given back: a library that
// computes next configures its own.
struct TilePairs {
  static constexpr std::int64_t rows = 2 * tile_rows;
  static constexpr std::int64_t depth = tile_depth;
  static constexpr std::int64_t whole_rows(std::int64_t some) {
    return (some + tile_rows - 1) / tile_rows * tile_rows;
  }

  TilePairs() { _tile_loadconfig(&tile_config); }
  TilePairs(const TilePairs&) = delete;
  TilePairs& operator=(const TilePairs&) = delete;
  ~TilePairs() { _tile_release(); }

  static void multiply(const PairProduct& p) {
    const bool is_tall = p.rows > tile_rows, is_wide = p.columns > tile_columns;
    if (is_tall && is_wide) return multiply_tiles<2, 2>(p);
    if (is_tall) return multiply_tiles<2, 1>(p);
    if (is_wide) return multiply_tiles<1, 2>(p);
    multiply_tiles<1, 1>(p);
  }
};

// The upper half of an f32; small integers are exact.
Bf16 bf16_of(std::int64_t integer) {
  const auto value = static_cast<float>(integer);
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return static_cast<Bf16>(bits >> 16);
}

}  // namespace

const AttentionParts& attention_parts_amx_bf16() { return pair_parts<TilePairs>; }

bool amx_bf16_is_right() {
  constexpr std::int64_t n = 32, depth = 64;
  alignas(64) static Bf16 a[n * depth], b[depth * n];
  alignas(64) static float c[n * n];
  const auto left = [](std::int64_t r, std::int64_t k) { return (r * 5 + k * 3) % 17 - 8; };
  const auto right = [](std::int64_t k, std::int64_t j) { return (k * 7 + j * 11) % 13 - 6; };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < depth; ++k) {
      a[i * depth + k] = bf16_of(left(i, k));
      b[k / 2 * pair_row + i * 2 + k % 2] = bf16_of(right(k, i));
    }
    for (std::int64_t j = 0; j < n; ++j) c[i * n + j] = static_cast<float>(i - j);
  }
  {
    const TilePairs tiles;
    TilePairs::multiply({a, depth, b, depth, c, n, n, n, true});
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      std::int64_t sum = i - j;
      for (std::int64_t k = 0; k < depth; ++k) sum += left(i, k) * right(k, j);
      if (c[i * n + j] != static_cast<float>(sum)) return false;
    }
  }
  return true;
}

}  // namespace hm_cpu
