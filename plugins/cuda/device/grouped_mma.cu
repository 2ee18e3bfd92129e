// grouped_gemm on tensor cores: tiles of rows and of weights pass through shared memory in several
// stages, so that reading never waits for a product.
#include "grouped_stage.cuh"
#include "instances.hpp"

namespace hm_cuda {
namespace {

// TileM x TileN per block, WarpsM x WarpsN of them; Stages tiles of 128 bytes of depth under way.
template <int TileM_, int TileN_, int WarpsM_, int WarpsN_, int Stages_>
struct Tiling {
  static constexpr int tile_m = TileM_, tile_n = TileN_, warps_m = WarpsM_, warps_n = WarpsN_;
  static constexpr int stages = Stages_, threads = warps_m * warps_n * 32;
  static constexpr int warp_m = tile_m / warps_m, warp_n = tile_n / warps_n;
  static constexpr int m_tiles = warp_m / 16, n_tiles = warp_n / 8;
  static constexpr int stage_bytes = (tile_m + tile_n) * row_bytes;
  static_assert(n_tiles % 2 == 0, "columns are loaded sixteen at a time");
};

GPU_DEVICE void multiply_add_bytes(std::int32_t (&c)[4], const std::uint32_t (&a)[4],
                                   std::uint32_t b0, std::uint32_t b1) {
#if HM_CUDA_MMA
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

GPU_DEVICE void multiply_add_f8(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                std::uint32_t b1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// What a type of elements needs: sums, and a product of 32 bytes of depth. `sums_apart`: the
// product keeps too few bits of a running sum, so a stage is summed on its own and then added.
template <class T>
struct Elements {
  using Sum = float;
  static constexpr bool sums_apart = false;
  static GPU_DEVICE void product(Sum (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                 std::uint32_t b1) {
    multiply_add<T>(c, a, b0, b1);
  }
};
template <>
struct Elements<signed char> {
  using Sum = std::int32_t;
  static constexpr bool sums_apart = false;
  static GPU_DEVICE void product(Sum (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                 std::uint32_t b1) {
    multiply_add_bytes(c, a, b0, b1);
  }
};
template <>
struct Elements<f8_e4m3> {
  using Sum = float;
  static constexpr bool sums_apart = true;
  static GPU_DEVICE void product(Sum (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                 std::uint32_t b1) {
    multiply_add_f8(c, a, b0, b1);
  }
};

// Adds one stage: 128 bytes of depth in four steps of 32.
template <class T, class Tile>
GPU_DEVICE void multiply_stage(unsigned char* src, unsigned char* wei, int lane, int warp_m,
                               int warp_n,
                               typename Elements<T>::Sum (&sum)[Tile::m_tiles][Tile::n_tiles][4]) {
#pragma unroll
  for (int depth = 0; depth < row_bytes / 32; ++depth) {
    std::uint32_t a[Tile::m_tiles][4];
#pragma unroll
    for (int m = 0; m < Tile::m_tiles; ++m) {
      load_matrices(
          a[m], tile_chunk(src, warp_m * Tile::warp_m + m * 16 + lane % 16, 2 * depth + lane / 16));
    }
#pragma unroll
    for (int n = 0; n < Tile::n_tiles; n += 2) {
      std::uint32_t b[4];
      load_matrices(b, tile_chunk(wei, warp_n * Tile::warp_n + n * 8 + lane % 8 + 8 * (lane / 16),
                                  2 * depth + lane / 8 % 2));
#pragma unroll
      for (int m = 0; m < Tile::m_tiles; ++m) {
        Elements<T>::product(sum[m][n], a[m], b[0], b[1]);
        Elements<T>::product(sum[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

// One warp's part of a tile, as fragments.
template <class T, class Tile>
struct Sums {
  typename Elements<T>::Sum values[Tile::m_tiles][Tile::n_tiles][4];

  GPU_DEVICE void add(const Sums& other) {
#pragma unroll
    for (int m = 0; m < Tile::m_tiles; ++m) {
#pragma unroll
      for (int n = 0; n < Tile::n_tiles; ++n) {
#pragma unroll
        for (int c = 0; c < 4; ++c) values[m][n][c] += other.values[m][n][c];
      }
    }
  }
};

template <class T, class Dst, class Tile, bool IsAligned>
__global__ void __launch_bounds__(Tile::threads) grouped_mma(GroupedTask task) {
  constexpr int depth = row_bytes / static_cast<int>(sizeof(T));
  extern __shared__ __align__(128) unsigned char shared[];
  const GroupedTile at = find_block_tile(task, Tile::tile_m);
  if (at.expert < 0) return;
  const std::int64_t first_column =
      static_cast<std::int64_t>(blockIdx.x % task.tiles_n) * Tile::tile_n;
  const T* src = static_cast<const T*>(task.src);
  const T* wei = static_cast<const T*>(task.wei) + at.expert * task.expert_stride;
  const int lane = static_cast<int>(threadIdx.x % warp_threads);
  const int warp = static_cast<int>(threadIdx.x / warp_threads);
  const int warp_m = warp / Tile::warps_n, warp_n = warp % Tile::warps_n;

  Sums<T, Tile> sum{};
  const std::int64_t steps = (task.k + depth - 1) / depth;
  const auto fill = [&](std::int64_t index) {
    if (index < steps) {
      unsigned char* tile = shared + index % Tile::stages * Tile::stage_bytes;
      copy_rows<T, IsAligned>(tile, Tile::tile_m, src, at.row, at.row_end, index * depth, task.k);
      copy_rows<T, IsAligned>(tile + Tile::tile_m * row_bytes, Tile::tile_n, wei, first_column,
                              task.n, index * depth, task.k);
    }
    commit_copies();
  };
#pragma unroll
  for (int i = 0; i < Tile::stages - 1; ++i) fill(i);
  for (std::int64_t index = 0; index < steps; ++index) {
    wait_for_copies<Tile::stages - 2>();
    __syncthreads();  // this stage is there, and the one before is no longer read
    fill(index + Tile::stages - 1);
    unsigned char* tile = shared + index % Tile::stages * Tile::stage_bytes;
    unsigned char* wei_tile = tile + Tile::tile_m * row_bytes;
    if constexpr (Elements<T>::sums_apart) {
      Sums<T, Tile> stage{};
      multiply_stage<T, Tile>(tile, wei_tile, lane, warp_m, warp_n, stage.values);
      sum.add(stage);
    } else {
      multiply_stage<T, Tile>(tile, wei_tile, lane, warp_m, warp_n, sum.values);
    }
  }
#pragma unroll
  for (int m = 0; m < Tile::m_tiles; ++m) {
    write_fragments<Dst>(task, at.row + warp_m * Tile::warp_m + m * 16, at.row_end,
                         first_column + warp_n * Tile::warp_n, lane, sum.values[m]);
  }
}

template <class T, class Dst, class Tile, bool IsAligned>
GroupedShape shape_of() {
  return {Tile::tile_m, Tile::tile_n, Tile::threads, Tile::stages * Tile::stage_bytes,
          address_of_kernel(grouped_mma<T, Dst, Tile, IsAligned>)};
}

template <class T, class Dst>
GroupedShape of_tile(std::int64_t tile, bool is_aligned) {
  using Middle = Tiling<64, 128, 2, 2, 4>;
  if (!is_aligned) return shape_of<T, Dst, Middle, false>();
  switch (tile) {
    case 0:
      return shape_of<T, Dst, Tiling<16, 64, 1, 4, 6>, true>();
    case 1:
      return shape_of<T, Dst, Tiling<16, 128, 1, 4, 4>, true>();
    case 2:
      return shape_of<T, Dst, Middle, true>();
    default:
      return shape_of<T, Dst, Tiling<128, 128, 2, 4, 3>, true>();
  }
}

}  // namespace

GroupedShape grouped_mma_shape(std::int64_t src, std::int64_t dst, std::int64_t tile,
                               bool is_aligned) {
  if (src == HM_DTYPE_BF16 && dst == HM_DTYPE_BF16) return of_tile<bf16, bf16>(tile, is_aligned);
  if (src == HM_DTYPE_BF16 && dst == HM_DTYPE_F32) return of_tile<bf16, float>(tile, is_aligned);
  if (src == HM_DTYPE_F16 && dst == HM_DTYPE_F16) return of_tile<f16, f16>(tile, is_aligned);
  if (src == HM_DTYPE_F16 && dst == HM_DTYPE_F32) return of_tile<f16, float>(tile, is_aligned);
  if (src == HM_DTYPE_S8 && dst == HM_DTYPE_S32) {
    return of_tile<signed char, std::int32_t>(tile, is_aligned);
  }
  if (src == HM_DTYPE_F8_E4M3FN && dst == HM_DTYPE_F32) {
    return of_tile<f8_e4m3, float>(tile, is_aligned);
  }
  if (src == HM_DTYPE_F8_E4M3FN && dst == HM_DTYPE_BF16) {
    return of_tile<f8_e4m3, bf16>(tile, is_aligned);
  }
  return {};
}

}  // namespace hm_cuda
