// The tiles of AMX in plain C++, so that what the CPU backend computes on them can be judged where
// no processor has them. Compiled for 512-bit vectors with bf16 like the source it includes:
// nothing here may come from the standard library.
#include <immintrin.h>

#include <cstdint>

namespace {

struct EmulatedTiles {
  alignas(64) std::uint8_t bytes[8][16][64];
  bool are_configured = false;
};
thread_local EmulatedTiles tiles;

void zero_tile(int t) { __builtin_memset(tiles.bytes[t], 0, 1024); }
// A tile that was not configured faults.
void need_tiles() {
  if (!tiles.are_configured) __builtin_trap();
}
void load_tile(int t, const void* base, std::int64_t stride) {
  need_tiles();
  for (int r = 0; r < 16; ++r) {
    __builtin_memcpy(tiles.bytes[t][r], static_cast<const char*>(base) + r * stride, 64);
  }
}
void store_tile(int t, void* base, std::int64_t stride) {
  for (int r = 0; r < 16; ++r) {
    __builtin_memcpy(static_cast<char*>(base) + r * stride, tiles.bytes[t][r], 64);
  }
}
float tile_value(std::uint16_t bf16) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}
// c[m][n] += sum over pairs k of a[m][2k] b[k][2n] + a[m][2k+1] b[k][2n+1]: Intel SDM, TDPBF16PS.
void dot_tiles(int c, int a, int b) {
  need_tiles();
  for (int m = 0; m < 16; ++m) {
    float sums[16];
    __builtin_memcpy(sums, tiles.bytes[c][m], 64);
    std::uint16_t left[32], right[32];
    __builtin_memcpy(left, tiles.bytes[a][m], 64);
    for (int k = 0; k < 16; ++k) {
      __builtin_memcpy(right, tiles.bytes[b][k], 64);
      for (int n = 0; n < 16; ++n) {
        sums[n] += tile_value(left[2 * k]) * tile_value(right[2 * n]);
        sums[n] += tile_value(left[2 * k + 1]) * tile_value(right[2 * n + 1]);
      }
    }
    __builtin_memcpy(tiles.bytes[c][m], sums, 64);
  }
}
void configure_tiles(const void* config) {
  tiles.are_configured = static_cast<const std::uint8_t*>(config)[0] == 1;
}
void release_tiles() { tiles.are_configured = false; }

}  // namespace

#undef _tile_loadd
#undef _tile_stored
#undef _tile_zero
#undef _tile_dpbf16ps
#define _tile_loadd(t, base, stride) load_tile(t, base, stride)
#define _tile_stored(t, base, stride) store_tile(t, base, stride)
#define _tile_zero(t) zero_tile(t)
#define _tile_dpbf16ps(c, a, b) dot_tiles(c, a, b)
#define _tile_loadconfig(config) configure_tiles(config)
#define _tile_release() release_tiles()

#include "attention/simd/amx_bf16.cpp"
