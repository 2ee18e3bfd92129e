// Prefill by Hopper's products and its copy engine; compiled for sm_90a alone. One thread asks for
// tiles of 128 keys and of their values, and two warpgroups of 64 queries each go through them. A
// turn starts the scores of the next tile and the product of this tile's weights with its values;
// the next softmax then runs beside the latter and beside the other warpgroup (FlashAttention-3,
// 2407.08608, section 3). A block takes many tiles of queries.
//
// Keys and values lie in panels of 64 columns, rows of 128 bytes (see wgmma.cuh). Queries stay in
// registers.
#include "attention_queries.cuh"
#include "copy_engine.cuh"
#include "instances.hpp"
#include "wgmma.cuh"

namespace hm_cuda {
namespace {

constexpr int keys = attention_box_keys, block_rows = attention_wgmma_rows;
constexpr int consumer_threads = 2 * warpgroup_threads, threads = attention_wgmma_threads;
constexpr int consumer_warps = consumer_threads / warp_threads;
constexpr int panel_columns = attention_box_columns, panel_bytes = keys * panel_columns * 2;
constexpr int stages = 2;
static_assert(threads == consumer_threads + warpgroup_threads, "one warpgroup for the copies");

// A tile of queries, and the keys that it sees.
struct QueryTile {
  Position at;
  KeyRange range, seen_by_all;
  int count;  // of tiles of keys
};

// The tiles of queries of this block: those with the most keys first, of all heads. Rounds go
// through the blocks there and back, so that no block has the heavier tile of every round.
class QueryTiles {
 public:
  GPU_DEVICE explicit QueryTiles(const AttentionTask& task)
      : tiles_((task.new_tokens * group_of(task) + block_rows - 1) / block_rows),
        pairs_(task.kv_heads * task.batch),
        own_(static_cast<int>(blockIdx.x)) {}

  GPU_DEVICE bool is_there() const { return first_ + own_ < tiles_ * pairs_; }
  GPU_DEVICE void next() {
    first_ += static_cast<int>(gridDim.x);
    own_ = static_cast<int>(gridDim.x) - 1 - own_;
  }
  GPU_DEVICE Position position(const AttentionTask& task) const {
    const int number = first_ + own_, pair = number % pairs_;
    Position out;
    out.rows = task.new_tokens * group_of(task);
    out.kv_head = pair % task.kv_heads;
    out.sequence = pair / task.kv_heads;
    out.first_row = (tiles_ - 1 - number / pairs_) * block_rows;
    return out;
  }
  GPU_DEVICE QueryTile tile(const AttentionTask& task) const {
    QueryTile out;
    out.at = position(task);
    out.range = keys_of_split(task, out.at, block_rows, keys);
    out.seen_by_all = keys_seen_by_all(task, out.at, block_rows);
    out.count = (out.range.end - out.range.begin + keys - 1) / keys;
    return out;
  }

 private:
  int tiles_, pairs_, own_, first_ = 0;
};

// The stage of a turn, and the parity of its barriers' phases.
struct Turn {
  int stage = 0;
  std::uint32_t parity = 0;
  GPU_DEVICE void next() {
    stage = stage + 1 == stages ? 0 : stage + 1;
    if (stage == 0) parity ^= 1;
  }
};

struct StageBarriers {
  Barrier keys_there, values_there, keys_free, values_free;
};

template <class T, int Width>
struct Memory {
  static constexpr int tile_bytes = Width / panel_columns * panel_bytes;
  static constexpr int bytes = 2 * stages * tile_bytes + atom_bytes;

  unsigned char* base;
  StageBarriers* barriers;

  GPU_DEVICE unsigned char* keys_of(int stage) const { return base + stage * tile_bytes; }
  GPU_DEVICE unsigned char* values_of(int stage) const {
    return base + (stages + stage) * tile_bytes;
  }
};

template <class T, int Width>
GPU_DEVICE void copy_tiles(const TiledAttention& job, const Memory<T, Width>& memory) {
  Turn turn;
  for (QueryTiles work(job.task); work.is_there(); work.next()) {
    const QueryTile tile = work.tile(job.task);
    const int pair = tile.at.sequence * job.task.kv_heads + tile.at.kv_head;
    for (int i = 0; i < tile.count; ++i, turn.next()) {
      const int first = tile.range.begin + i * keys;
      const auto copy = [&](unsigned char* to, const TensorMap& from, Barrier& is_there,
                            const Barrier& is_free) {
        is_free.wait(turn.parity ^ 1);
        is_there.arrive_expecting(Memory<T, Width>::tile_bytes);
#pragma unroll
        for (int panel = 0; panel < Width / panel_columns; ++panel) {
          copy_box(to + panel * panel_bytes, from, is_there, panel * panel_columns, first, pair);
        }
      };
      StageBarriers& stage = memory.barriers[turn.stage];
      copy(memory.keys_of(turn.stage), job.k, stage.keys_there, stage.keys_free);
      copy(memory.values_of(turn.stage), job.v, stage.values_there, stage.values_free);
    }
  }
}

// Sixteen queries of a warp, those of its warpgroup beside them.
template <class T, int Width>
struct Consumer : QueryRows<keys / 8, Width / 8> {
  using Base = QueryRows<keys / 8, Width / 8>;
  using Base::sum;

  const AttentionTask& task;
  Memory<T, Width> memory;
  int warp;
  std::uint32_t query[Width / 16][4];
  float score[keys / 8][4], correction[2];
  std::uint32_t weight[keys / 16][4];

  GPU_DEVICE Consumer(const AttentionTask& of, const Memory<T, Width>& in)
      : task(of), memory(in), warp(static_cast<int>(threadIdx.x / warp_threads)) {}

  // Fragments of a product's first factor, straight from memory.
  GPU_DEVICE void take_queries(const Position& at) {
    const int in_warp = static_cast<int>(threadIdx.x % warp_threads);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = at.first_row + warp * 16 + in_warp / 4 + 8 * r;
      const bool is_there = row < at.rows;
      const T* from =
          static_cast<const T*>(task.q) + (is_there ? query_of(task, at, row) * task.head_dim : 0);
#pragma unroll
      for (int half = 0; half < Width / 8; ++half) {
        const int column = 8 * half + 2 * (in_warp % 4);
        query[half / 2][2 * (half % 2) + r] =
            is_there && column < task.head_dim
                ? *reinterpret_cast<const std::uint32_t*>(from + column)
                : 0;
      }
    }
  }

  GPU_DEVICE void start_scores(int stage) {
    constexpr int units_per_step = 2;  // 16 columns of a row, in units of 16 bytes
    const std::uint64_t tile = tile_descriptor(memory.keys_of(stage));
#pragma unroll
    for (int d = 0; d < Width / 16; ++d) {
      const int at = d / 4 * (panel_bytes / 16) + d % 4 * units_per_step;
      if (d == 0) {
        new_product_of_rows<T>(score, query[d], tile);
      } else {
        product_of_rows<T>(score, query[d], tile + at);
      }
    }
    commit_products();
  }
  GPU_DEVICE void start_values(int stage) {
    constexpr int units_per_keys = 2 * atom_bytes / 16;  // of sixteen
    const std::uint64_t tile = value_descriptor(memory.values_of(stage), panel_bytes);
#pragma unroll
    for (int i = 0; i < keys / 16; ++i) {
      product_of_values<T>(sum, weight[i], tile + i * units_per_keys);
    }
    commit_products();
  }
  GPU_DEVICE void release(Barrier& is_free) const {
    if (threadIdx.x % warp_threads == 0) is_free.arrive();
  }

  GPU_DEVICE void weigh_tile(const QueryTile& tile, int index) {
    const std::int32_t first = tile.range.begin + index * keys;
    if (first < tile.seen_by_all.begin || first + keys > tile.seen_by_all.end) {
      this->mask(score, first);
    }
    this->weigh(score, correction);
    settle(score);
  }
  GPU_DEVICE void keep_weights() {
#pragma unroll
    for (int i = 0; i < keys / 16; ++i) {
      this->template weights_of_keys<T>(weight[i], score, 2 * i);
    }
  }
};

template <class T, int Width>
GPU_DEVICE void consume(const AttentionTask& task, const Memory<T, Width>& memory) {
  Consumer<T, Width> own(task, memory);
  Turn keys_turn, values_turn;
  const auto begin_scores = [&] {
    memory.barriers[keys_turn.stage].keys_there.wait(keys_turn.parity);
    settle(own.sum);
    begin_products();
    own.start_scores(keys_turn.stage);
  };
  const auto end_scores = [&] {
    settle(own.score);
    own.release(memory.barriers[keys_turn.stage].keys_free);
    keys_turn.next();
  };
  const auto begin_values = [&] {
    memory.barriers[values_turn.stage].values_there.wait(values_turn.parity);
    settle(own.sum);
    begin_products();
    own.start_values(values_turn.stage);
  };
  const auto end_values = [&] {
    wait_for_products<0>();
    settle(own.sum);
    own.release(memory.barriers[values_turn.stage].values_free);
    values_turn.next();
  };
  for (QueryTiles work(task); work.is_there(); work.next()) {
    const QueryTile tile = work.tile(task);
    own.take_queries(tile.at);
    own.begin(task, tile.at);
    own.clear_sums();
    begin_scores();
    wait_for_products<0>();
    end_scores();
    own.weigh_tile(tile, 0);
    own.keep_weights();
    for (int index = 1; index < tile.count; ++index) {
      begin_scores();
      begin_values();
      wait_for_products<1>();
      end_scores();
      own.weigh_tile(tile, index);
      end_values();
      own.scale_sums(own.correction);
      own.keep_weights();
    }
    begin_values();
    end_values();
    own.template write<T>(task, tile.at);
  }
}

template <class T, int Width>
__global__ void __launch_bounds__(threads, 1)
    attention_wgmma(const __grid_constant__ TiledAttention job) {
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ StageBarriers barriers[stages];
  const Memory<T, Width> memory{first_atom(shared), barriers};
  if (threadIdx.x == 0) {
    for (StageBarriers& stage : barriers) {
      stage.keys_there.begin(1);
      stage.values_there.begin(1);
      stage.keys_free.begin(consumer_warps);
      stage.values_free.begin(consumer_warps);
    }
    show_barriers();
  }
  __syncthreads();
  if (threadIdx.x >= consumer_threads) {
    leave_registers<24>();
    if (threadIdx.x == consumer_threads) copy_tiles(job, memory);
  } else {
    take_registers<240>();
    consume(job.task, memory);
  }
}

template <class T>
PrefillShape of_width(std::int64_t head_dim) {
  if (head_dim <= 64) {
    return {reinterpret_cast<DeviceFunction>(attention_wgmma<T, 64>), Memory<T, 64>::bytes};
  }
  return {reinterpret_cast<DeviceFunction>(attention_wgmma<T, 128>), Memory<T, 128>::bytes};
}

}  // namespace

PrefillShape attention_wgmma_function(std::int64_t dtype, std::int64_t head_dim) {
  if (head_dim % 8 != 0 || head_dim > 128) return {};
  if (dtype == HM_DTYPE_BF16) return of_width<bf16>(head_dim);
  if (dtype == HM_DTYPE_F16) return of_width<f16>(head_dim);
  return {};
}

}  // namespace hm_cuda
