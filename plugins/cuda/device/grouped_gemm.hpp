// Device code of grouped_gemm. How many rows each expert has is known on the device alone, so the
// grid has room for the most tiles that any split of the rows could need; a block finds its own.
#pragma once

#include "function.hpp"

namespace hm_cuda {

struct GroupedTask {
  const void* src;  // [rows, k], grouped by expert
  const void* wei;
  void* dst;  // [rows, n]
  const std::int32_t* expert_rows;
  std::int64_t rows, n, k;
  std::int64_t expert_stride, n_stride, k_stride;  // of wei, in elements
  std::int32_t experts, tiles_n;
};

// Rows and columns of dst per block.
struct GroupedShape {
  std::int64_t tile_m = 0, tile_n = 0, threads = 0, shared_bytes = 0;
  DeviceFunction function = nullptr;
};

// Tensor cores: bf16 -> bf16|f32, f16 -> f16|f32, f8_e4m3fn -> bf16|f32, s8 -> s32. wei is
// [experts, n, k]. `is_aligned`: rows of k elements are multiples of 16 bytes. Tiles by index of
// grouped_tiles.
constexpr const char* grouped_tiles[] = {"16x64", "16x128", "64x128", "128x128"};
GroupedShape grouped_mma_shape(std::int64_t src, std::int64_t dst, std::int64_t tile,
                               bool is_aligned);

// Hopper's tensor cores (sm_90a, built where the compiler has it): 16-bit types whose rows are
// aligned. Tiles by index of grouped_wgmma_tiles.
constexpr const char* grouped_wgmma_tiles[] = {"wgmma_128x128", "wgmma_128x256"};
GroupedShape grouped_wgmma_shape(std::int64_t src, std::int64_t dst, std::int64_t tile);

// Without them, also f32; wei by its strides.
GroupedShape grouped_plain_shape(std::int64_t src, std::int64_t dst);

// dst[groups, columns, rows] = src[groups, rows, columns]; elements of 1, 2 or 4 bytes.
struct TurnTask {
  const void* src;
  void* dst;
  std::int64_t rows, columns;
};
constexpr std::int64_t turn_tile = 32, turn_rows = 8;
// grid: x = tiles of columns, y = some tiles of rows, z = groups; block: turn_tile x turn_rows.
DeviceFunction turn_function(std::int64_t element_bytes);

}  // namespace hm_cuda
