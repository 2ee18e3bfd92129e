// Prefill: many queries per key/value head. A warp keeps 16 of them and its sums in registers,
// while tiles of keys and values pass through shared memory, the next one on its way during the
// products of this one (after FlashAttention-2, 2307.08691).
#include "attention_queries.cuh"
#include "instances.hpp"

namespace hm_cuda {
namespace {

constexpr int rows_per_warp = 16, stages = 2;

template <int Width>
constexpr int tile_keys = Width > 128 ? 32 : 64;

// Queries of wide heads are read again from shared memory: registers hold no more than the sums.
template <int Width>
constexpr bool keeps_queries = Width <= 128;

template <class T, int Width>
GPU_DEVICE void copy_tile(T* tile, const T* from, std::int32_t first, const KeyRange& range,
                          std::int32_t head_dim) {
  constexpr int chunks = Width / 8;
  for (int i = static_cast<int>(threadIdx.x); i < tile_keys<Width> * chunks;
       i += static_cast<int>(blockDim.x)) {
    const int row = i / chunks, chunk = i % chunks;
    const std::int32_t key = first + row;
    const bool is_there = key < range.end && chunk * 8 < head_dim;
    const std::int64_t offset =
        is_there ? static_cast<std::int64_t>(key) * head_dim + chunk * 8 : 0;
    copy_async(chunk_at<T, Width>(tile, row, chunk), from + offset, is_there);
  }
}

// 16 queries of one warp, and what they need of shared memory.
template <class T, int Width>
struct Prefill : QueryRows<tile_keys<Width> / 8, Width / 8> {
  using Base = QueryRows<tile_keys<Width> / 8, Width / 8>;
  using Base::key_tiles, Base::value_tiles, Base::lane, Base::sum;
  static constexpr int depth_steps = Width / 16;

  T* query_tile;  // of this warp
  std::uint32_t query[keeps_queries<Width> ? depth_steps : 1][4];

  // A fragment of queries: matrices (rows 0-7, 8-15) x (columns 0-7, 8-15) of depth step d.
  GPU_DEVICE void load_query(std::uint32_t (&out)[4], int d) const {
    load_matrices(out, chunk_at<T, Width>(query_tile, lane % 16, 2 * d + lane / 16));
  }

  GPU_DEVICE void scores(T* tile, float (&score)[key_tiles][4]) {
#pragma unroll
    for (int n = 0; n < key_tiles; ++n) {
#pragma unroll
      for (int c = 0; c < 4; ++c) score[n][c] = 0;
    }
#pragma unroll
    for (int d = 0; d < depth_steps; ++d) {
      std::uint32_t loaded[4];
      if (!keeps_queries<Width>) load_query(loaded, d);
      const std::uint32_t(&a)[4] =
          keeps_queries<Width> ? query[keeps_queries<Width> ? d : 0] : loaded;
#pragma unroll
      for (int n = 0; n < key_tiles; n += 2) {
        std::uint32_t b[4];  // both halves of the depth for keys 8 n .. 8 n + 7, then of the next 8
        load_matrices(
            b, chunk_at<T, Width>(tile, 8 * n + lane % 8 + 8 * (lane / 16), 2 * d + lane / 8 % 2));
        multiply_add<T>(score[n], a, b[0], b[1]);
        multiply_add<T>(score[n + 1], a, b[2], b[3]);
      }
    }
  }

  GPU_DEVICE void add_values(T* tile, const float (&p)[key_tiles][4]) {
#pragma unroll
    for (int n = 0; n < key_tiles; n += 2) {
      std::uint32_t a[4];
      this->template weights_of_keys<T>(a, p, n);
#pragma unroll
      for (int j = 0; j < value_tiles; j += 2) {
        std::uint32_t b[4];  // both halves of the keys for columns 8 j .. 8 j + 7, then the next 8
        load_matrices_turned(b, chunk_at<T, Width>(tile, 8 * n + lane % 16, j + lane / 16));
        multiply_add<T>(sum[j], a, b[0], b[1]);
        multiply_add<T>(sum[j + 1], a, b[2], b[3]);
      }
    }
  }
};

// Queries of the block into shared memory, zeros behind the last row and column.
template <class T, int Width>
GPU_DEVICE void copy_queries(T* tile, const AttentionTask& task, const Position& at, int rows) {
  constexpr int chunks = Width / 8;
  for (int i = static_cast<int>(threadIdx.x); i < rows * chunks;
       i += static_cast<int>(blockDim.x)) {
    const int chunk = i % chunks;
    const std::int32_t row = at.first_row + i / chunks;
    const bool is_there = row < at.rows && chunk * 8 < task.head_dim;
    const std::int64_t offset = is_there ? query_of(task, at, row) * task.head_dim + chunk * 8 : 0;
    copy_async(chunk_at<T, Width>(tile, i / chunks, chunk), static_cast<const T*>(task.q) + offset,
               is_there);
  }
}

template <class T, int Width, int Warps>
__global__ void __launch_bounds__(Warps* warp_threads) attention_prefill(AttentionTask task) {
  constexpr int keys = tile_keys<Width>, block_rows = Warps * rows_per_warp;
  extern __shared__ __align__(16) unsigned char shared[];
  T* queries = reinterpret_cast<T*>(shared);
  T* key_tiles = queries + block_rows * Width;
  T* value_tiles = key_tiles + stages * keys * Width;

  const Position at = position_of(task, block_rows);
  const KeyRange range = keys_of_split(task, at, block_rows, keys);
  const T* k = static_cast<const T*>(task.k) + keys_at(task, at);
  const T* v = static_cast<const T*>(task.v) + keys_at(task, at);
  Prefill<T, Width> own;
  own.begin(task, at);
  own.query_tile = queries + static_cast<int>(threadIdx.x / warp_threads) * rows_per_warp * Width;
  const KeyRange seen_by_all = keys_seen_by_all(task, at, block_rows);

  copy_queries<T, Width>(queries, task, at, block_rows);
  copy_tile<T, Width>(key_tiles, k, range.begin, range, task.head_dim);
  copy_tile<T, Width>(value_tiles, v, range.begin, range, task.head_dim);
  commit_copies();
  int stage = 0;
  for (std::int32_t first = range.begin; first < range.end; first += keys, stage ^= 1) {
    const std::int32_t next = first + keys;
    if (next < range.end) {
      T* const key_tile = key_tiles + (stage ^ 1) * keys * Width;
      T* const value_tile = value_tiles + (stage ^ 1) * keys * Width;
      copy_tile<T, Width>(key_tile, k, next, range, task.head_dim);
      copy_tile<T, Width>(value_tile, v, next, range, task.head_dim);
    }
    commit_copies();
    wait_for_copies<1>();
    __syncthreads();
    if (keeps_queries<Width> && first == range.begin) {
#pragma unroll
      for (int d = 0; d < (keeps_queries<Width> ? Width / 16 : 1); ++d) {
        own.load_query(own.query[d], d);
      }
    }
    float score[Prefill<T, Width>::key_tiles][4];
    own.scores(key_tiles + stage * keys * Width, score);
    if (first < seen_by_all.begin || next > seen_by_all.end) own.mask(score, first);
    float correction[2];
    own.weigh(score, correction);
    own.scale_sums(correction);
    own.add_values(value_tiles + stage * keys * Width, score);
    __syncthreads();  // the stage is free for the copies of the next turn
  }
  own.template write<T>(task, at);
}

template <class T, int Width, int Warps>
PrefillShape shape_of() {
  constexpr std::int64_t values =
      (Warps * rows_per_warp + 2 * stages * tile_keys<Width>)*std::int64_t{Width};
  return {address_of_kernel(attention_prefill<T, Width, Warps>),
          values * static_cast<std::int64_t>(sizeof(T))};
}

template <class T>
PrefillShape of_width(std::int64_t head_dim, std::int64_t warps) {
  if (head_dim <= 64) return warps == 8 ? shape_of<T, 64, 8>() : shape_of<T, 64, 4>();
  if (head_dim <= 128) return warps == 8 ? shape_of<T, 128, 8>() : shape_of<T, 128, 4>();
  return warps == 8 ? shape_of<T, 256, 8>() : shape_of<T, 256, 4>();
}

}  // namespace

PrefillShape attention_prefill_function(std::int64_t dtype, std::int64_t head_dim,
                                        std::int64_t warps) {
  if (head_dim % 8 != 0 || head_dim > mma_head_dim_max) return {};
  if (dtype == HM_DTYPE_BF16) return of_width<bf16>(head_dim, warps);
  if (dtype == HM_DTYPE_F16) return of_width<f16>(head_dim, warps);
  return {};
}

}  // namespace hm_cuda
