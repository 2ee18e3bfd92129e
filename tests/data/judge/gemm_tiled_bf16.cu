// dst[m,n] = src[m,k] wei[k,n] in bf16, sums in f32, on the matrix units (16 x 16 x 16): a block of
// four warps has 64 x 64 of dst, each warp 32 x 32; tiles of 32 of k go through shared memory.
#include <mma.h>

namespace {

using namespace nvcuda;

constexpr int side = 64, depth = 32, pad = 8, threads = 128;

__global__ void __launch_bounds__(threads)
    gemm(const __nv_bfloat16* src, const __nv_bfloat16* wei, __nv_bfloat16* dst, int64_t m,
         int64_t n, int64_t k) {
  __shared__ __align__(32) __nv_bfloat16 a[side][depth + pad];
  __shared__ __align__(32) __nv_bfloat16 b[depth][side + pad];
  __shared__ __align__(32) float out[side][side + pad];
  const int64_t row = blockIdx.y * int64_t{side}, column = blockIdx.x * int64_t{side};
  const int warp = threadIdx.x / 32, wy = warp / 2 * 32, wx = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (auto& line : sum) {
    for (auto& tile : line) wmma::fill_fragment(tile, 0.0f);
  }
  const __nv_bfloat16 zero = __float2bfloat16(0.0f);
  for (int64_t l = 0; l < k; l += depth) {
    for (int i = threadIdx.x; i < side * depth; i += threads) {
      const int y = i / depth, x = i % depth;
      a[y][x] = row + y < m && l + x < k ? src[(row + y) * k + l + x] : zero;
    }
    for (int i = threadIdx.x; i < side * depth; i += threads) {
      const int y = i / side, x = i % side;
      b[y][x] = l + y < k && column + x < n ? wei[(l + y) * n + column + x] : zero;
    }
    __syncthreads();
    for (int i = 0; i < depth; i += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb[2];
      for (int t = 0; t < 2; ++t) {
        wmma::load_matrix_sync(fa[t], &a[wy + 16 * t][i], depth + pad);
        wmma::load_matrix_sync(fb[t], &b[i][wx + 16 * t], side + pad);
      }
      for (int y = 0; y < 2; ++y) {
        for (int x = 0; x < 2; ++x) wmma::mma_sync(sum[y][x], fa[y], fb[x], sum[y][x]);
      }
    }
    __syncthreads();
  }
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 2; ++x) {
      wmma::store_matrix_sync(&out[wy + 16 * y][wx + 16 * x], sum[y][x], side + pad,
                              wmma::mem_row_major);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < side * side; i += threads) {
    const int y = i / side, x = i % side;
    if (row + y < m && column + x < n) {
      dst[(row + y) * n + column + x] = __float2bfloat16(out[y][x]);
    }
  }
}

}  // namespace

extern "C" void run(const __nv_bfloat16* src, const __nv_bfloat16* wei, __nv_bfloat16* dst,
                    int64_t m, int64_t n, int64_t k, cudaStream_t stream) {
  const dim3 grid((n + side - 1) / side, (m + side - 1) / side);
  gemm<<<grid, threads, 0, stream>>>(src, wei, dst, m, n, k);
}
