// AMX peaks: four accumulator tiles, two times two source tiles, everything in tile registers.
#include "core/lists.hpp"
#include "measure/probe/peak_paths.hpp"

namespace halmark {

#if defined(__x86_64__)
namespace {

// Palette 1: eight tiles of 16 rows x 64 bytes.
struct alignas(64) TileConfig {
  unsigned char bytes[64] = {};
  constexpr TileConfig() {
    bytes[0] = 1;
    for (const int tile : below(8)) {
      bytes[16 + 2 * tile] = 64;
      bytes[48 + tile] = 16;
    }
  }
};
constexpr TileConfig tile_config;
constexpr bool has_eight_full_tiles(const TileConfig& config) {
  for (const int tile : below(8)) {
    const int bytes_per_row = config.bytes[16 + 2 * tile] + 256 * config.bytes[17 + 2 * tile];
    if (bytes_per_row != 64 || config.bytes[48 + tile] != 16) return false;
  }
  return config.bytes[0] == 1;
}
static_assert(has_eight_full_tiles(tile_config));

// Any finite pattern serves both dtypes: 0x3f3f is a small bf16 and two positive bytes.
struct alignas(64) TileBytes {
  unsigned char bytes[1024] = {};
  constexpr TileBytes() {
    for (unsigned char& byte : bytes) byte = 0x3f;
  }
};
constexpr TileBytes tile_bytes;

// GCC knows no clobber for tiles before -mamx-tile; nothing else in this process uses them between
// the load and the release, so they are not live across the block.
#define HALMARK_AMX_LOOP(function, instruction)                                             \
  void function(std::int64_t iterations) {                                                  \
    asm volatile(                                                                           \
        "ldtilecfg (%1)\n\t"                                                                \
        "tilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3\n\t"      \
        "tileloadd (%2,%3,1), %%tmm4\n\ttileloadd (%2,%3,1), %%tmm5\n\t"                    \
        "tileloadd (%2,%3,1), %%tmm6\n\ttileloadd (%2,%3,1), %%tmm7\n\t"                    \
        "1:\n\t" instruction " %%tmm6, %%tmm4, %%tmm0\n\t" instruction                      \
        " %%tmm7, %%tmm4, %%tmm1\n\t" instruction " %%tmm6, %%tmm5, %%tmm2\n\t" instruction \
        " %%tmm7, %%tmm5, %%tmm3\n\t"                                                       \
        "dec %0\n\tjnz 1b\n\t"                                                              \
        "tilerelease\n\t"                                                                   \
        : "+r"(iterations)                                                                  \
        : "r"(tile_config.bytes), "r"(tile_bytes.bytes), "r"(std::int64_t{64})              \
        : "cc", "memory");                                                                  \
  }

HALMARK_AMX_LOOP(dot_bf16_amx, "tdpbf16ps")
HALMARK_AMX_LOOP(dot_s8_amx, "tdpbssd")

constexpr double tiles_per_turn = 4;
constexpr double bf16_flops_per_tile = 2.0 * 16 * 16 * 32;
constexpr double s8_ops_per_tile = 2.0 * 16 * 16 * 64;

}  // namespace

void append_x86_matrix_paths(const CpuFeatures& has, std::vector<PeakPath>& paths) {
  if (has.amx_bf16) {
    paths.push_back({"bf16_matrix", "avx512_core_amx", Dtype::bf16,
                     tiles_per_turn * bf16_flops_per_tile, dot_bf16_amx});
  }
  if (has.amx_int8) {
    paths.push_back(
        {"s8_matrix", "avx512_core_amx", Dtype::s8, tiles_per_turn * s8_ops_per_tile, dot_s8_amx});
  }
}

#else

void append_x86_matrix_paths(const CpuFeatures&, std::vector<PeakPath>&) {}

#endif

}  // namespace halmark
