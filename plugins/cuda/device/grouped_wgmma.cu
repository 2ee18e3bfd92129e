// grouped_gemm by Hopper's products: two warpgroups of 64 rows each; compiled for sm_90a alone.
//
// Turn i multiplies stage i while it fills stage i + stages - 2 with what the turn i - 2 has left:
// the products of turn i - 1 may still run then, so that the tensor cores never wait for a barrier.
#include "grouped_stage.cuh"
#include "instances.hpp"
#include "wgmma.cuh"

namespace hm_cuda {
namespace {

constexpr int tile_m = 128, block_n = 128, threads = 2 * warpgroup_threads;

// TileN: a multiple of block_n.
template <int TileN>
struct Stage {
  static constexpr int blocks = TileN / block_n, bytes = (tile_m + TileN) * row_bytes;
  static constexpr int count = TileN > block_n ? 4 : 6;
  // One atom more, to begin at a multiple of its size.
  static constexpr int shared_bytes = count * bytes + atom_bytes;
};

// One thread's part of the copies of Rows rows: the same chunk of every 32nd row, so that a copy
// takes an addition and a choice.
template <class T, int Rows>
struct RowCopies {
  static constexpr int rows_apart = threads / row_chunks, count = Rows / rows_apart;
  static constexpr int chunk_values = chunk_bytes / static_cast<int>(sizeof(T));
  static_assert(rows_apart % 8 == 0, "rows of a thread have the same permutation");

  const T* from;       // the matrix
  std::int64_t first;  // element of its first row and chunk
  std::int64_t apart;  // elements from row to row
  int rows, to, column;

  // Rows from `first_row` on, of `row_end`.
  GPU_DEVICE RowCopies(const T* matrix, std::int64_t first_row, std::int64_t row_end,
                       std::int64_t k)
      : from(matrix) {
    const int row = static_cast<int>(threadIdx.x) / row_chunks;
    const int chunk = static_cast<int>(threadIdx.x) % row_chunks;
    column = chunk * chunk_values;
    first = (first_row + row) * k + column;
    apart = rows_apart * k;
    to = row * row_bytes + (chunk ^ (row & 7)) * chunk_bytes;
    const std::int64_t left = row_end - first_row - row;
    rows = left <= 0      ? 0
           : left >= Rows ? count
                          : static_cast<int>((left + rows_apart - 1) / rows_apart);
  }

  // Columns from `begin` on, of k.
  GPU_DEVICE void copy(unsigned char* tile, std::int64_t begin, std::int64_t k) const {
    const int there = begin + column < k ? rows : 0;
    const T* at = from + first + begin;
#pragma unroll
    for (int i = 0; i < count; ++i, at += apart) {
      const bool is_there = i < there;
      copy_async(tile + to + i * rows_apart * row_bytes, is_there ? at : from, is_there);
    }
  }
};

template <class T, class Dst, int TileN>
__global__ void __launch_bounds__(threads, 1) grouped_wgmma(GroupedTask task) {
  using Stages = Stage<TileN>;
  constexpr int depth = row_bytes / static_cast<int>(sizeof(T)), depth_steps = row_bytes / 32;
  extern __shared__ __align__(128) unsigned char shared[];
  const GroupedTile at = find_block_tile(task, tile_m);
  if (at.expert < 0) return;
  unsigned char* const stages = first_atom(shared);
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x % task.tiles_n) * TileN;
  const T* src = static_cast<const T*>(task.src);
  const T* wei = static_cast<const T*>(task.wei) + at.expert * task.expert_stride;
  const int lane = static_cast<int>(threadIdx.x % warp_threads);
  const int warp = static_cast<int>(threadIdx.x / warp_threads);
  const int group = warp / 4;

  const RowCopies<T, tile_m> src_copies(src, at.row, at.row_end, task.k);
  const RowCopies<T, TileN> wei_copies(wei, first_column, task.n, task.k);

  const std::int64_t steps = (task.k + depth - 1) / depth;
  const auto fill = [&](std::int64_t index) {
    if (index < steps) {
      unsigned char* stage = stages + index % Stages::count * Stages::bytes;
      src_copies.copy(stage, index * depth, task.k);
      wei_copies.copy(stage + tile_m * row_bytes, index * depth, task.k);
    }
    commit_copies();
  };
  float sum[Stages::blocks][block_n / 8][4] = {};
#pragma unroll
  for (int i = 0; i < Stages::count - 2; ++i) fill(i);
  for (std::int64_t index = 0; index < steps; ++index) {
    wait_for_copies<Stages::count - 3>();
    show_to_products();
    wait_for_products<1>();
    __syncthreads();  // all have this stage, and nobody reads that of two turns ago
    unsigned char* stage = stages + index % Stages::count * Stages::bytes;
    const std::uint64_t a = tile_descriptor(stage + group * 64 * row_bytes);
    const std::uint64_t b = tile_descriptor(stage + tile_m * row_bytes);
    begin_products();
#pragma unroll
    for (int d = 0; d < depth_steps; ++d) {
#pragma unroll
      for (int n = 0; n < Stages::blocks; ++n) {
        constexpr int units_per_step = 2, units_per_block = block_n * row_bytes / 16;
        product_n128<T>(sum[n], a + d * units_per_step,
                        b + d * units_per_step + n * units_per_block);
      }
    }
    commit_products();
    fill(index + Stages::count - 2);
  }
  wait_for_products<0>();
#pragma unroll
  for (int n = 0; n < Stages::blocks; ++n) {
    settle(sum[n]);
    write_fragments<Dst>(task, at.row + warp * 16, at.row_end, first_column + n * block_n, lane,
                         sum[n]);
  }
}

template <class T, class Dst, int TileN>
GroupedShape shape_of() {
  return {tile_m, TileN, threads, Stage<TileN>::shared_bytes,
          address_of_kernel(grouped_wgmma<T, Dst, TileN>)};
}

template <class T, class Dst>
GroupedShape of_tile(std::int64_t tile) {
  return tile == 0 ? shape_of<T, Dst, 128>() : shape_of<T, Dst, 256>();
}

}  // namespace

GroupedShape grouped_wgmma_shape(std::int64_t src, std::int64_t dst, std::int64_t tile) {
  if (src == HM_DTYPE_BF16 && dst == HM_DTYPE_BF16) return of_tile<bf16, bf16>(tile);
  if (src == HM_DTYPE_BF16 && dst == HM_DTYPE_F32) return of_tile<bf16, float>(tile);
  if (src == HM_DTYPE_F16 && dst == HM_DTYPE_F16) return of_tile<f16, f16>(tile);
  if (src == HM_DTYPE_F16 && dst == HM_DTYPE_F32) return of_tile<f16, float>(tile);
  return {};
}

}  // namespace hm_cuda
