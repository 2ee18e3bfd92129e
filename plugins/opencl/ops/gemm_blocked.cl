// dst[m,n] = src[m,k] wei[k,n], everything row-major but wei, which `pack` lays out in panels of
// PANEL columns: wei[panel][k][PANEL], zeros beyond n. A work-item keeps a block of ROWS rows and
// VECTORS vectors of WIDTH columns in registers over all of k; a group is GROUP_COLUMNS x GROUP_ROWS
// such blocks. With LOCAL_SRC, LOCAL_WEI it reads these through local memory, DEPTH of k at a time.
// UNROLL is of the loop over k. Groups are numbered rows first: neighbours share a panel.

#define PANEL (VECTORS * WIDTH)
#define SUMS CAT(SUM, WIDTH)
#define TILE_ROWS (GROUP_ROWS * ROWS)
#define GROUP_ITEMS (GROUP_COLUMNS * GROUP_ROWS)
#define UNROLLED __attribute__((opencl_unroll_hint))

// PANEL weights of one k per work-item; `is_turned`: wei[n,k] instead of [k,n].
__kernel void pack(const int n, const int k, const int is_turned,
                   __global const SRC_BITS* restrict wei, __global SRC_BITS* restrict packed) {
  const int i = (int)get_global_id(0), panel = (int)get_global_id(1);
  if (i >= k || panel * PANEL >= n) return;
  __global SRC_BITS* to = packed + ((size_t)panel * k + i) * PANEL;
  for (int c = 0; c < PANEL; ++c) {
    const int column = panel * PANEL + c;
    const size_t at = is_turned ? (size_t)column * k + i : (size_t)i * n + column;
    to[c] = column < n ? wei[at] : 0;
  }
}

void put(SUMS value, __global DST* dst, size_t at, int count) {
  if (count >= WIDTH) {
    STORE(WIDTH, value, dst, at);
    return;
  }
  SUM part[WIDTH];
  CAT(vstore, WIDTH)(value, 0, part);
  for (int i = 0; i < count; ++i) STORE1(part[i], dst, at + i);
}

__kernel __attribute__((reqd_work_group_size(GROUP_COLUMNS, GROUP_ROWS, 1))) void gemm(
    const int m, const int n, const int k, __global const SRC* restrict src,
    __global const SRC* restrict wei, __global DST* restrict dst) {
  const int x = (int)get_local_id(0), y = (int)get_local_id(1);
  const int group_row = (int)get_group_id(0) * TILE_ROWS, first_row = group_row + y * ROWS;
  const int group_panel = (int)get_group_id(1) * GROUP_COLUMNS, panel = group_panel + x;
  const int panels = (n + PANEL - 1) / PANEL;

  SUMS sum[ROWS][VECTORS];
  UNROLLED for (int r = 0; r < ROWS; ++r) {
    UNROLLED for (int v = 0; v < VECTORS; ++v) sum[r][v] = (SUMS)(0);
  }
#if LOCAL_SRC
  __local SUM a[DEPTH][TILE_ROWS];
#else
  __global const SRC* rows[ROWS];
  UNROLLED for (int r = 0; r < ROWS; ++r) rows[r] = src + (size_t)min(first_row + r, m - 1) * k;
#endif
#if LOCAL_WEI
  __local SUM b[GROUP_COLUMNS][DEPTH][PANEL];
#else
  __global const SRC* b = wei + (size_t)min(panel, panels - 1) * k * PANEL;
#endif

#if LOCAL_SRC || LOCAL_WEI
  const int item = y * GROUP_COLUMNS + x;
  for (int from = 0; from < k; from += DEPTH) {
    const int count = min(DEPTH, k - from);
#if LOCAL_SRC
    for (int at = item; at < DEPTH * TILE_ROWS; at += GROUP_ITEMS) {
      const int i = at % DEPTH, r = at / DEPTH;
      a[i][r] = group_row + r < m && i < count ? LOAD1(src, (size_t)(group_row + r) * k + from + i)
                                               : 0;
    }
#endif
#if LOCAL_WEI
    for (int at = item * WIDTH; at < GROUP_COLUMNS * DEPTH * PANEL; at += GROUP_ITEMS * WIDTH) {
      const int c = at % PANEL, i = at / PANEL % DEPTH, p = at / (PANEL * DEPTH);
      SUMS value = (SUMS)(0);
      if (group_panel + p < panels && i < count) {
        value = LOAD(WIDTH, wei, ((size_t)(group_panel + p) * k + from + i) * PANEL + c);
      }
      CAT(vstore, WIDTH)(value, 0, &b[p][i][c]);
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
#else
  {
    const int from = 0, count = k;
#endif
    __attribute__((opencl_unroll_hint(UNROLL))) for (int i = 0; i < count; ++i) {
      SUMS weight[VECTORS];
      UNROLLED for (int v = 0; v < VECTORS; ++v) {
#if LOCAL_WEI
        weight[v] = CAT(vload, WIDTH)(v, &b[x][i][0]);
#else
        weight[v] = LOAD(WIDTH, b, (size_t)(from + i) * PANEL + v * WIDTH);
#endif
      }
      UNROLLED for (int r = 0; r < ROWS; ++r) {
#if LOCAL_SRC
        const SUM value = a[i][y * ROWS + r];
#else
        const SUM value = LOAD1(rows[r], from + i);
#endif
        UNROLLED for (int v = 0; v < VECTORS; ++v) sum[r][v] += value * weight[v];
      }
    }
#if LOCAL_SRC || LOCAL_WEI
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
  }

  UNROLLED for (int r = 0; r < ROWS; ++r) {
    UNROLLED for (int v = 0; v < VECTORS; ++v) {
      const int column = panel * PANEL + v * WIDTH;
      if (first_row + r < m && column < n) {
        put(sum[r][v], dst, (size_t)(first_row + r) * n + column, n - column);
      }
    }
  }
}
