// Tiles of 16 x 64 of dst per work-group: 16 x 16 items of 4 columns each, tiles of src and wei in local
// memory.
// halmark: global = n/4, m; local = 16, 16
#define TILE 16
__kernel void run(__global const float* src, __global const float* wei, __global float* dst,
                  long m, long n, long k) {
  __local float a[TILE][TILE];
  __local float b[TILE][4 * TILE];
  const int x = get_local_id(0), y = get_local_id(1);
  const long row = get_global_id(1), first = 4 * TILE * get_group_id(0);
  float sum[4] = {0, 0, 0, 0};
  for (long l = 0; l < k; l += TILE) {
    a[y][x] = row < m && l + x < k ? src[row * k + l + x] : 0;
    for (int c = 0; c < 4; ++c) {
      const long column = first + c * TILE + x;
      b[y][c * TILE + x] = l + y < k && column < n ? wei[(l + y) * n + column] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; ++i) {
      for (int c = 0; c < 4; ++c) sum[c] += a[y][i] * b[i][c * TILE + x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int c = 0; c < 4; ++c) {
    const long column = first + c * TILE + x;
    if (row < m && column < n) dst[row * n + column] = sum[c];
  }
}
