// Prefill by Hopper's products: two warpgroups of 64 queries each go through tiles of 128 keys;
// compiled for sm_90a alone. A turn starts the scores of the next tile and the product of this
// tile's weights with its values; the next softmax then runs beside the latter (FlashAttention-3,
// 2407.08608, section 3.2), and beside the other warpgroup.
//
// Heads lie in panels of 64 columns, rows of 128 bytes (see wgmma.cuh). Keys and values have two
// stages each: at the barrier of a turn the scores of its tile and the sums of the tile before are
// done, which leaves their stages to the copies of the turn.
#include "attention_queries.cuh"
#include "instances.hpp"
#include "wgmma.cuh"

namespace hm_cuda {
namespace {

constexpr int keys = 128, block_rows = attention_wgmma_rows, threads = 2 * warpgroup_threads;
constexpr int panel_columns = 64, panel_row_bytes = 128, panel_bytes = keys * panel_row_bytes;
constexpr int stages = 2;
static_assert(block_rows == keys, "queries lie in panels of the same size");

// The block's queries into panels; zeros behind the last row and column.
template <class T, int Width>
GPU_DEVICE void copy_queries(unsigned char* tile, const AttentionTask& task, const Position& at) {
  constexpr int chunks = Width / 8;
  const T* q = static_cast<const T*>(task.q);
  for (int i = static_cast<int>(threadIdx.x); i < block_rows * chunks; i += threads) {
    const int row = i / chunks, chunk = i % chunks;
    const bool is_there = at.first_row + row < at.rows && chunk * 8 < task.head_dim;
    unsigned char* to =
        tile + chunk / 8 * panel_bytes + row * panel_row_bytes + (chunk % 8 ^ (row & 7)) * 16;
    const std::int64_t from =
        is_there ? query_of(task, at, at.first_row + row) * task.head_dim + chunk * 8 : 0;
    copy_async(to, q + from, is_there);
  }
}

// One thread's part of tiles of keys or values: the same chunk of every so many rows, so that a
// copy takes a comparison and an addition.
template <class T, int Width>
struct PanelCopies {
  static constexpr int chunks = Width / 8, rows_apart = threads / chunks, count = keys / rows_apart;
  static_assert(rows_apart % 8 == 0, "rows of a thread have the same permutation");

  int row, to;  // its first row, and where that begins in a tile
  bool has_columns;
  std::int64_t first, apart;  // elements: from the tile's first key, and from row to row

  GPU_DEVICE explicit PanelCopies(std::int32_t head_dim) {
    const int chunk = static_cast<int>(threadIdx.x) % chunks;
    row = static_cast<int>(threadIdx.x) / chunks;
    to = chunk / 8 * panel_bytes + row * panel_row_bytes + (chunk % 8 ^ (row & 7)) * 16;
    has_columns = chunk * 8 < head_dim;
    first = std::int64_t{row} * head_dim + (has_columns ? chunk * 8 : 0);
    apart = std::int64_t{rows_apart} * head_dim;
  }

  // The first `left` keys of a tile are there, and begin at `from`.
  GPU_DEVICE void copy(unsigned char* tile, const T* from, std::int32_t left) const {
    const T* at = from + first;
#pragma unroll
    for (int i = 0; i < count; ++i, at += apart) {
      const bool is_there = has_columns && row + i * rows_apart < left;
      copy_async(tile + to + i * rows_apart * panel_row_bytes, is_there ? at : from, is_there);
    }
  }
};

template <class T, int Width>
struct Tiles {
  static constexpr int tile_bytes = Width / panel_columns * panel_bytes;
  static constexpr int shared_bytes = (1 + 2 * stages) * tile_bytes + atom_bytes;

  unsigned char* queries;
  const T *k, *v;
  KeyRange range;
  std::int32_t head_dim;
  PanelCopies<T, Width> copies;

  GPU_DEVICE unsigned char* keys_of(int tile) const {
    return queries + (1 + tile % stages) * tile_bytes;
  }
  GPU_DEVICE unsigned char* values_of(int tile) const {
    return queries + (1 + stages + tile % stages) * tile_bytes;
  }
  GPU_DEVICE void fetch_keys(int tile) const { fetch(keys_of(tile), k, tile); }
  GPU_DEVICE void fetch_values(int tile) const { fetch(values_of(tile), v, tile); }

  GPU_DEVICE void fetch(unsigned char* to, const T* from, int tile) const {
    const std::int32_t first = range.begin + tile * keys;
    if (first >= range.end) return;
    copies.copy(to, from + std::int64_t{first} * head_dim, range.end - first);
  }
};

constexpr int units_per_step = 2;  // 16 columns of a row, in units of 16 bytes

// Scores of a warpgroup's queries with a tile of keys.
template <class T, int Width>
GPU_DEVICE void start_scores(float (&score)[keys / 8][4], const unsigned char* queries,
                             const unsigned char* tile) {
  const std::uint64_t a = tile_descriptor(queries), b = tile_descriptor(tile);
#pragma unroll
  for (int d = 0; d < Width / 16; ++d) {
    const int at = d / 4 * (panel_bytes / 16) + d % 4 * units_per_step;
    if (d == 0) {
      new_product_n128<T>(score, a, b);
    } else {
      product_n128<T>(score, a + at, b + at);
    }
  }
}

// The weights of a tile's keys, as fragments, with its values.
template <class T, int ValueTiles>
GPU_DEVICE void start_values(float (&sum)[ValueTiles][4], const std::uint32_t (&p)[keys / 16][4],
                             const unsigned char* tile) {
  constexpr int units_per_keys = 2 * atom_bytes / 16;  // of sixteen
  const std::uint64_t values = value_descriptor(tile, panel_bytes);
#pragma unroll
  for (int i = 0; i < keys / 16; ++i) {
    product_of_values<T>(sum, p[i], values + i * units_per_keys);
  }
}

// All that this block has asked for is there, for every thread and for products.
GPU_DEVICE void meet_at_copies() {
  wait_for_copies<0>();
  show_to_products();
  __syncthreads();
}

template <class T, int Width>
__global__ void __launch_bounds__(threads, 1) attention_wgmma(AttentionTask task) {
  extern __shared__ __align__(128) unsigned char shared[];
  const Position at = position_of(task, block_rows);
  const KeyRange range = keys_of_split(task, at, block_rows, keys);
  const Tiles<T, Width> tiles{first_atom(shared),
                              static_cast<const T*>(task.k) + keys_at(task, at),
                              static_cast<const T*>(task.v) + keys_at(task, at),
                              range,
                              task.head_dim,
                              PanelCopies<T, Width>(task.head_dim)};
  const KeyRange seen_by_all = keys_seen_by_all(task, at, block_rows);
  const int count = (range.end - range.begin + keys - 1) / keys;
  const unsigned char* own_queries =
      tiles.queries + threadIdx.x / warpgroup_threads * 64 * panel_row_bytes;
  QueryRows<keys / 8, Width / 8> own;
  own.begin(task, at);
  float score[keys / 8][4], correction[2];
  std::uint32_t p[keys / 16][4];
  const auto weigh_tile = [&](int tile) {
    const std::int32_t first = range.begin + tile * keys;
    if (first < seen_by_all.begin || first + keys > seen_by_all.end) own.mask(score, first);
    own.weigh(score, correction);
  };
  const auto keep_weights = [&] {
#pragma unroll
    for (int i = 0; i < keys / 16; ++i) own.template weights_of_keys<T>(p[i], score, 2 * i);
  };

  copy_queries<T, Width>(tiles.queries, task, at);
  tiles.fetch_keys(0);
  commit_copies();
  meet_at_copies();
  begin_products();
  start_scores<T, Width>(score, own_queries, tiles.keys_of(0));
  commit_products();
  tiles.fetch_keys(1);
  tiles.fetch_values(0);
  commit_copies();
  wait_for_products<0>();
  settle(score);
  weigh_tile(0);
  keep_weights();
  for (int tile = 0; tile + 1 < count; ++tile) {
    meet_at_copies();
    settle(own.sum);
    begin_products();
    start_scores<T, Width>(score, own_queries, tiles.keys_of(tile + 1));
    commit_products();
    start_values<T>(own.sum, p, tiles.values_of(tile));
    commit_products();
    tiles.fetch_keys(tile + 2);
    tiles.fetch_values(tile + 1);
    commit_copies();
    wait_for_products<1>();
    settle(score);
    weigh_tile(tile + 1);
    wait_for_products<0>();
    settle(own.sum);
    own.scale_sums(correction);
    keep_weights();
  }
  meet_at_copies();
  settle(own.sum);
  begin_products();
  start_values<T>(own.sum, p, tiles.values_of(count - 1));
  commit_products();
  wait_for_products<0>();
  settle(own.sum);
  own.template write<T>(task, at);
}

template <class T>
PrefillShape of_width(std::int64_t head_dim) {
  if (head_dim <= 64) {
    return {address_of_kernel(attention_wgmma<T, 64>), Tiles<T, 64>::shared_bytes};
  }
  return {address_of_kernel(attention_wgmma<T, 128>), Tiles<T, 128>::shared_bytes};
}

}  // namespace

PrefillShape attention_wgmma_function(std::int64_t dtype, std::int64_t head_dim) {
  if (head_dim % 8 != 0 || head_dim > 128) return {};
  if (dtype == HM_DTYPE_BF16) return of_width<bf16>(head_dim);
  if (dtype == HM_DTYPE_F16) return of_width<f16>(head_dim);
  return {};
}

}  // namespace hm_cuda
