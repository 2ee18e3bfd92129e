// grouped_gemm without tensor cores, and the turning of weights.
#include "grouped_tile.cuh"
#include "instances.hpp"

namespace hm_cuda {
namespace {

constexpr int tile = 64, depth = 16, per_thread = 4, side = tile / per_thread;
constexpr int plain_threads = side * side;

template <class T>
struct Plain {
  using Sum = float;
  static GPU_DEVICE float value(T x) { return to_float(x); }
};
template <>
struct Plain<signed char> {
  using Sum = std::int32_t;
  static GPU_DEVICE std::int32_t value(signed char x) { return x; }
};

GPU_DEVICE void put(std::int32_t* to, std::int32_t sum) { *to = sum; }
template <class Dst>
GPU_DEVICE void put(Dst* to, float sum) {
  *to = from_float<Dst>(sum);
}

template <class T, class Dst>
__global__ void __launch_bounds__(plain_threads) grouped_plain(GroupedTask task) {
  using Sum = typename Plain<T>::Sum;
  __shared__ Sum rows[depth][tile + 1], columns[depth][tile + 1];
  const GroupedTile at = find_block_tile(task, tile);
  if (at.expert < 0) return;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x % task.tiles_n) * tile;
  const T* src = static_cast<const T*>(task.src);
  const T* wei = static_cast<const T*>(task.wei) + at.expert * task.expert_stride;
  const int thread = static_cast<int>(threadIdx.x), x = thread % side, y = thread / side;
  const bool along_n = task.n_stride == 1;
  Sum sum[per_thread][per_thread] = {};
  for (std::int64_t base = 0; base < task.k; base += depth) {
    for (int i = thread; i < tile * depth; i += plain_threads) {
      const int d = i % depth, r = i / depth;
      const bool is_src = at.row + r < at.row_end && base + d < task.k;
      rows[d][r] = is_src ? Plain<T>::value(src[(at.row + r) * task.k + base + d]) : Sum{};
      // Neighbouring threads read neighbouring weights.
      const int c = along_n ? i % tile : r, wd = along_n ? i / tile : d;
      const bool is_wei = first_column + c < task.n && base + wd < task.k;
      columns[wd][c] =
          is_wei ? Plain<T>::value(
                       wei[(first_column + c) * task.n_stride + (base + wd) * task.k_stride])
                 : Sum{};
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      Sum a[per_thread], b[per_thread];
#pragma unroll
      for (int i = 0; i < per_thread; ++i) {
        a[i] = rows[d][y + i * side];
        b[i] = columns[d][x + i * side];
      }
#pragma unroll
      for (int i = 0; i < per_thread; ++i) {
#pragma unroll
        for (int j = 0; j < per_thread; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const std::int64_t row = at.row + y + i * side;
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
      const std::int64_t column = first_column + x + j * side;
      if (row < at.row_end && column < task.n) {
        put(static_cast<Dst*>(task.dst) + row * task.n + column, sum[i][j]);
      }
    }
  }
}

// Through shared memory, so that reads and writes are both coalesced; one column of padding keeps
// the banks apart.
template <class T>
__global__ void turn(TurnTask task) {
  __shared__ T block[turn_tile][turn_tile + 1];
  const std::int64_t group = blockIdx.z * task.rows * task.columns;
  const T* src = static_cast<const T*>(task.src) + group;
  T* dst = static_cast<T*>(task.dst) + group;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x) * turn_tile;
  for (std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * turn_tile;
       first_row < task.rows; first_row += static_cast<std::int64_t>(gridDim.y) * turn_tile) {
    for (std::int64_t y = threadIdx.y; y < turn_tile; y += turn_rows) {
      const std::int64_t row = first_row + y, column = first_column + threadIdx.x;
      if (row < task.rows && column < task.columns) {
        block[y][threadIdx.x] = src[row * task.columns + column];
      }
    }
    __syncthreads();
    for (std::int64_t y = threadIdx.y; y < turn_tile; y += turn_rows) {
      const std::int64_t row = first_row + threadIdx.x, column = first_column + y;
      if (row < task.rows && column < task.columns) {
        dst[column * task.rows + row] = block[threadIdx.x][y];
      }
    }
    __syncthreads();
  }
}

template <class T, class Dst>
GroupedShape plain_shape() {
  return {tile, tile, plain_threads, 0, address_of_kernel(grouped_plain<T, Dst>)};
}

}  // namespace

GroupedShape grouped_plain_shape(std::int64_t src, std::int64_t dst) {
  if (src == HM_DTYPE_F32 && dst == HM_DTYPE_F32) return plain_shape<float, float>();
  if (src == HM_DTYPE_BF16 && dst == HM_DTYPE_BF16) return plain_shape<bf16, bf16>();
  if (src == HM_DTYPE_BF16 && dst == HM_DTYPE_F32) return plain_shape<bf16, float>();
  if (src == HM_DTYPE_F16 && dst == HM_DTYPE_F16) return plain_shape<f16, f16>();
  if (src == HM_DTYPE_F16 && dst == HM_DTYPE_F32) return plain_shape<f16, float>();
  if (src == HM_DTYPE_F8_E4M3FN && dst == HM_DTYPE_F32) return plain_shape<f8_e4m3, float>();
  if (src == HM_DTYPE_F8_E4M3FN && dst == HM_DTYPE_BF16) return plain_shape<f8_e4m3, bf16>();
  if (src == HM_DTYPE_S8 && dst == HM_DTYPE_S32) return plain_shape<signed char, std::int32_t>();
  return {};
}

DeviceFunction turn_function(std::int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return address_of_kernel(turn<unsigned char>);
    case 2:
      return address_of_kernel(turn<unsigned short>);
    case 4:
      return address_of_kernel(turn<unsigned>);
    default:
      return nullptr;
  }
}

}  // namespace hm_cuda
