// Which expert's rows a block computes.
#pragma once

#include "grouped_gemm.hpp"
#include "reduce.cuh"

namespace hm_cuda {

struct GroupedTile {
  std::int32_t expert;  // negative = the block has nothing to do
  std::int64_t row, row_end;
};

// Tile number `tile` of those that the experts' rows are cut into, one expert after the other,
// found by one warp: prefix sums over 32 experts at a time.
GPU_DEVICE GroupedTile find_tile(const GroupedTask& task, std::int64_t tile, int tile_m) {
  const int lane = static_cast<int>(threadIdx.x % warp_threads);
  std::int64_t tiles_before = 0, rows_before = 0;
  for (std::int32_t base = 0; base < task.experts; base += 32) {
    const std::int32_t expert = base + lane;
    std::int32_t count = expert < task.experts ? task.expert_rows[expert] : 0;
    count = count > 0 ? count : 0;
    const std::int32_t tiles = (count + tile_m - 1) / tile_m;
    std::int32_t tiles_to = tiles, rows_to = count;  // sums up to this lane
    for (int offset = 1; offset < 32; offset *= 2) {
      const std::int32_t tiles_of = __shfl_up_sync(all_lanes, tiles_to, offset);
      const std::int32_t rows_of = __shfl_up_sync(all_lanes, rows_to, offset);
      if (lane >= offset) {
        tiles_to += tiles_of;
        rows_to += rows_of;
      }
    }
    const unsigned reached = __ballot_sync(all_lanes, tiles_before + tiles_to > tile);
    if (reached != 0) {
      const int owner = __ffs(static_cast<int>(reached)) - 1;
      const std::int64_t first_tile =
          tiles_before + __shfl_sync(all_lanes, tiles_to - tiles, owner);
      const std::int64_t begin = rows_before + __shfl_sync(all_lanes, rows_to - count, owner);
      const std::int64_t end = rows_before + __shfl_sync(all_lanes, rows_to, owner);
      const std::int64_t row = begin + (tile - first_tile) * tile_m;
      // A wrong count must not leave dst.
      const std::int64_t row_end = end < task.rows ? end : task.rows;
      return {row < row_end ? base + owner : -1, row, row_end};
    }
    tiles_before += __shfl_sync(all_lanes, tiles_to, 31);
    rows_before += __shfl_sync(all_lanes, rows_to, 31);
  }
  return {-1, 0, 0};
}

// The same for the whole block.
GPU_DEVICE GroupedTile find_block_tile(const GroupedTask& task, int tile_m) {
  __shared__ GroupedTile found;
  if (threadIdx.x < warp_threads) {
    const GroupedTile tile = find_tile(task, blockIdx.x / task.tiles_n, tile_m);
    if (threadIdx.x == 0) found = tile;
  }
  __syncthreads();
  return found;
}

}  // namespace hm_cuda
