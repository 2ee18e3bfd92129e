// Stages of grouped products in shared memory, and fragments of sums on their way to dst.
#pragma once

#include "grouped_tile.cuh"
#include "mma.cuh"

namespace hm_cuda {

// Rows of 128 bytes of depth in chunks of 16, permuted within eight rows: what ldmatrix reads
// without bank conflicts, and wgmma calls a swizzle of 128 bytes.
constexpr int chunk_bytes = 16, row_bytes = 128, row_chunks = row_bytes / chunk_bytes;

template <class Dst>
GPU_DEVICE Dst result_of(float sum) {
  return from_float<Dst>(sum);
}
template <class Dst>
GPU_DEVICE Dst result_of(std::int32_t sum) {
  return sum;
}

GPU_DEVICE unsigned char* tile_chunk(unsigned char* tile, int row, int chunk) {
  return tile + row * row_bytes + (chunk ^ (row & 7)) * chunk_bytes;
}

// Rows [first, first + count) of a row-major [row_end, k] matrix, 128 bytes from column `column`
// on; zeros outside.
template <class T, bool IsAligned>
GPU_DEVICE void copy_rows(unsigned char* tile, int count, const T* from, std::int64_t first,
                          std::int64_t row_end, std::int64_t column, std::int64_t k) {
  constexpr int chunk_values = chunk_bytes / static_cast<int>(sizeof(T));
  for (int i = static_cast<int>(threadIdx.x); i < count * row_chunks;
       i += static_cast<int>(blockDim.x)) {
    const int row = i / row_chunks, chunk = i % row_chunks;
    unsigned char* to = tile_chunk(tile, row, chunk);
    const std::int64_t at = column + chunk * chunk_values;
    const bool is_row = first + row < row_end;
    if constexpr (IsAligned) {
      const bool is_there = is_row && at < k;
      copy_async(to, from + (is_there ? (first + row) * k + at : 0), is_there);
    } else {
      T values[chunk_values];
#pragma unroll
      for (int j = 0; j < chunk_values; ++j) {
        values[j] = is_row && at + j < k ? from[(first + row) * k + at + j] : T{};
      }
      store_raw<chunk_values>(reinterpret_cast<T*>(to), values);
    }
  }
}

// Fragments of 16 rows from `row` on and TilesN times 8 columns from `column` on.
template <class Dst, class Sum, int TilesN>
GPU_DEVICE void write_fragments(const GroupedTask& task, std::int64_t row, std::int64_t row_end,
                                std::int64_t column, int lane, const Sum (&sum)[TilesN][4]) {
  struct alignas(2 * sizeof(Dst)) Pair {
    Dst values[2];
  };
  const bool in_pairs = task.n % 2 == 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const std::int64_t own_row = row + lane / 4 + 8 * half;
    if (own_row >= row_end) continue;
    Dst* dst = static_cast<Dst*>(task.dst) + own_row * task.n;
#pragma unroll
    for (int n = 0; n < TilesN; ++n) {
      const std::int64_t at = column + n * 8 + 2 * (lane % 4);
      const Dst first = result_of<Dst>(sum[n][2 * half]);
      const Dst second = result_of<Dst>(sum[n][2 * half + 1]);
      if (in_pairs && at < task.n) {
        *reinterpret_cast<Pair*>(dst + at) = Pair{{first, second}};
      } else {
        if (at < task.n) dst[at] = first;
        if (at + 1 < task.n) dst[at + 1] = second;
      }
    }
  }
}

}  // namespace hm_cuda
