// One thread per element of dst, f32.
__global__ void gemm(const float* src, const float* wei, float* dst, int64_t m, int64_t n,
                     int64_t k) {
  const int64_t column = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  const int64_t row = blockIdx.y * int64_t{blockDim.y} + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int64_t l = 0; l < k; ++l) sum += src[row * k + l] * wei[l * n + column];
  dst[row * n + column] = sum;
}

extern "C" void run(const float* src, const float* wei, float* dst, int64_t m, int64_t n, int64_t k,
                    cudaStream_t stream) {
  const dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
  gemm<<<grid, block, 0, stream>>>(src, wei, dst, m, n, k);
}
