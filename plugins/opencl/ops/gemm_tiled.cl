// dst[m,n] = src[m,k] wei[k,n], or wei[n,k] with WEI_TRANS; everything row-major.
// Build options: types as elements.cl has them, TILE (a work-group computes TILE x TILE), ROWS (of
// them, in one column, per work-item).

#define STEP (TILE / ROWS)

__kernel __attribute__((reqd_work_group_size(TILE, STEP, 1))) void gemm(
    const int m, const int n, const int k, __global const SRC* restrict src,
    __global const SRC* restrict wei, __global DST* restrict dst) {
  __local SUM a[TILE][TILE];
  __local SUM b[TILE][TILE];
  const int x = (int)get_local_id(0), y = (int)get_local_id(1);
  const int first_row = (int)get_group_id(1) * TILE, first_column = (int)get_group_id(0) * TILE;
  const int column = first_column + x;
  SUM sum[ROWS];
  for (int r = 0; r < ROWS; ++r) sum[r] = 0;

  for (int depth = 0; depth < k; depth += TILE) {
    for (int r = 0; r < ROWS; ++r) {
      const int at = y + r * STEP;
      const int row = first_row + at;
      a[at][x] = row < m && depth + x < k ? LOAD1(src, (size_t)row * k + depth + x) : 0;
#if defined(WEI_TRANS)
      // Neighbouring items read neighbouring addresses here too; the tile is turned on the way in.
      const int wei_row = first_column + at;
      b[x][at] = wei_row < n && depth + x < k ? LOAD1(wei, (size_t)wei_row * k + depth + x) : 0;
#else
      b[at][x] = depth + at < k && column < n ? LOAD1(wei, (size_t)(depth + at) * n + column) : 0;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; ++i) {
      const SUM weight = b[i][x];
      for (int r = 0; r < ROWS; ++r) sum[r] += a[y + r * STEP][i] * weight;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  for (int r = 0; r < ROWS; ++r) {
    const int row = first_row + y + r * STEP;
    if (row < m && column < n) STORE1(sum[r], dst, (size_t)row * n + column);
  }
}
