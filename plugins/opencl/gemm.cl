// dst[m,n] = src[m,k] wei[k,n], or wei[n,k] with WEI_TRANS; everything row-major.
// Build options: SRC, DST (element types), ACC (accumulator), LOAD_<kind>, STORE_<kind>,
// TILE (a work-group computes TILE x TILE), ROWS (of them, in one column, per work-item).

#define STEP (TILE / ROWS)

#if defined(LOAD_BF16)
#define LOAD(p, i) as_float((uint)(p)[i] << 16)
#elif defined(LOAD_F16)
#define LOAD(p, i) vload_half(i, p)
#else
#define LOAD(p, i) ((ACC)(p)[i])
#endif

#if defined(STORE_BF16)
// Round to nearest, ties to even; a NaN keeps a set mantissa bit.
ushort to_bf16(float value) {
  const uint bits = as_uint(value);
  if (isnan(value)) return (ushort)((bits >> 16) | 0x40u);
  return (ushort)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
#define STORE(p, i, v) (p)[i] = to_bf16(v)
#elif defined(STORE_F16)
#define STORE(p, i, v) vstore_half_rte(v, i, p)
#else
#define STORE(p, i, v) (p)[i] = (v)
#endif

__kernel __attribute__((reqd_work_group_size(TILE, STEP, 1))) void gemm(
    const int m, const int n, const int k, __global const SRC* restrict src,
    __global const SRC* restrict wei, __global DST* restrict dst) {
  __local ACC a[TILE][TILE];
  __local ACC b[TILE][TILE];
  const int x = (int)get_local_id(0), y = (int)get_local_id(1);
  const int first_row = (int)get_group_id(1) * TILE, first_column = (int)get_group_id(0) * TILE;
  const int column = first_column + x;
  ACC sum[ROWS];
  for (int r = 0; r < ROWS; ++r) sum[r] = 0;

  for (int depth = 0; depth < k; depth += TILE) {
    for (int r = 0; r < ROWS; ++r) {
      const int at = y + r * STEP;
      const int row = first_row + at;
      a[at][x] = row < m && depth + x < k ? LOAD(src, (size_t)row * k + depth + x) : 0;
#if defined(WEI_TRANS)
      // Neighbouring items read neighbouring addresses here too; the tile is turned on the way in.
      const int wei_row = first_column + at;
      b[x][at] = wei_row < n && depth + x < k ? LOAD(wei, (size_t)wei_row * k + depth + x) : 0;
#else
      b[at][x] = depth + at < k && column < n ? LOAD(wei, (size_t)(depth + at) * n + column) : 0;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; ++i) {
      const ACC weight = b[i][x];
      for (int r = 0; r < ROWS; ++r) sum[r] += a[y + r * STEP][i] * weight;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  for (int r = 0; r < ROWS; ++r) {
    const int row = first_row + y + r * STEP;
    if (row < m && column < n) STORE(dst, (size_t)row * n + column, sum[r]);
  }
}
