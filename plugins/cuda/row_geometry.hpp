// How rows are laid over blocks and threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "launch.hpp"

namespace hm_cuda {

constexpr std::int64_t grid_x_max = 0x7fffffff, grid_y_max = 65535;

constexpr std::int64_t blocks_of(std::int64_t items, std::int64_t per_block) {
  return items / per_block + (items % per_block != 0);
}

constexpr std::int64_t power_of_two_from(std::int64_t value) {
  std::int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

inline unsigned as_dim(std::int64_t value) { return static_cast<unsigned>(value); }

// A row is reduced by `threads` threads (a power of two). Rows of a warp or less share a block.
inline void reduced_rows(Launch& launch, std::int64_t rows, std::int64_t threads) {
  constexpr std::int64_t block_threads = 128, warp_threads = 32;
  const std::int64_t together = threads <= warp_threads ? block_threads / threads : 1;
  launch.block = dim3(as_dim(threads), as_dim(together));
  launch.grid = dim3(as_dim(std::min(blocks_of(rows, together), grid_x_max)));
}

// Few rows want many threads each, many rows as few as keep a handful of vectors in registers.
inline std::int64_t reducing_threads(std::int64_t rows, std::int64_t vectors,
                                     std::int64_t processors) {
  const std::int64_t vectors_per_thread = rows < 4 * processors ? 1 : 4;
  return std::clamp<std::int64_t>(power_of_two_from(blocks_of(vectors, vectors_per_thread)), 8,
                                  1024);
}

// Rows over x; where they are too few to fill the device, columns are dealt over y.
inline void spread_rows(Launch& launch, std::int64_t rows, std::int64_t vectors,
                        std::int64_t threads, std::int64_t processors) {
  constexpr std::int64_t blocks_per_processor = 16;
  const std::int64_t room = std::max<std::int64_t>(blocks_per_processor * processors / rows, 1);
  const std::int64_t across = std::min({blocks_of(vectors, threads), room, grid_y_max});
  launch.block = dim3(as_dim(threads));
  launch.grid = dim3(as_dim(std::min(rows, grid_x_max)), as_dim(std::max<std::int64_t>(across, 1)));
}

inline std::int64_t spread_threads(std::int64_t vectors) {
  return std::clamp<std::int64_t>(power_of_two_from(vectors), 32, 256);
}

// A vector per thread, walking on by the width of the grid beyond `blocks_max`.
inline void flat(Launch& launch, std::int64_t vectors, std::int64_t threads,
                 std::int64_t processors) {
  constexpr std::int64_t blocks_per_processor = 32;
  launch.block = dim3(as_dim(threads));
  launch.grid = dim3(as_dim(
      std::clamp<std::int64_t>(blocks_of(vectors, threads), 1, blocks_per_processor * processors)));
}

}  // namespace hm_cuda
