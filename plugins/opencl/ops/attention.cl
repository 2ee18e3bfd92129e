// dst = softmax(q k^T SCALE) v over a cache. The new tokens of all query heads of one key/value head
// are its packed rows: row = token * group + head within the group. A work-item takes ROWS of them,
// over the keys that any of them sees in blocks of WIDTH, with a running maximum and sum (Milakov and
// Gimelshein, arXiv:1805.02867). SPLITS work-items share the keys of such rows. Behind vectors.cl.

#define CHUNKS ((HEAD_DIM + WIDTH - 1) / WIDTH)
#define IN_CHUNK(c) (HEAD_DIM - (c) * WIDTH)  // elements from chunk c on
#define UNROLLED __attribute__((opencl_unroll_hint))
#define LOWEST (-1e38f)  // finite: the difference of two of them is no NaN

// Chunk c of a row of keys or values; whole chunks need no count.
#if HEAD_DIM % WIDTH == 0
#define CHUNK(p, at, c) LOAD(WIDTH, p, (at) + (size_t)(c) * WIDTH)
#else
#define CHUNK(p, at, c) load(p, (at) + (size_t)(c) * WIDTH, IN_CHUNK(c), 0)
#endif

typedef struct {
  int begin, end;  // keys that a row sees
} Keys;

Keys keys_of(int row, int group, int new_tokens, int context, int window) {
  Keys keys = {0, context};
#if CAUSAL
  keys.end = context - new_tokens + row / group + 1;
#endif
  if (window > 0) keys.begin = max(0, keys.end - window);
  return keys;
}

__kernel __attribute__((reqd_work_group_size(SPLITS, 1, 1))) void run(
    const int heads, const int kv_heads, const int new_tokens, const int context, const int window,
    __global const SRC* restrict q, __global const SRC* restrict k, __global const SRC* restrict v,
    __global DST* restrict dst) {
  if (heads == 0) return;
  const int split = (int)get_local_id(0), pair = (int)get_group_id(1);
  const int group = heads / kv_heads, packed = new_tokens * group;
  const int first_row = (int)get_group_id(0) * ROWS;
  const size_t cache = (size_t)pair * context * HEAD_DIM;

  FLOATS query[ROWS][CHUNKS], sum[ROWS][CHUNKS];
  float highest[ROWS], total[ROWS];
  size_t place[ROWS];
  Keys seen[ROWS];
  UNROLLED for (int r = 0; r < ROWS; ++r) {
    const int row = min(first_row + r, packed - 1);
    const int head = pair % kv_heads * group + row % group;
    seen[r] = keys_of(row, group, new_tokens, context, window);
    place[r] = (((size_t)(pair / kv_heads) * new_tokens + row / group) * heads + head) * HEAD_DIM;
    highest[r] = LOWEST;
    total[r] = 0;
    for (int c = 0; c < CHUNKS; ++c) {
      query[r][c] = CHUNK(q, place[r], c) * SCALE;
      sum[r][c] = 0;
    }
  }

  // Rows are in order of tokens, so the first begins first and the last ends last.
  const int begin = seen[0].begin, end = seen[ROWS - 1].end;
  const int share = ((end - begin + SPLITS - 1) / SPLITS + WIDTH - 1) / WIDTH * WIDTH;
  const int own_end = min(end, begin + (split + 1) * share);
  for (int from = begin + split * share; from < own_end; from += WIDTH) {
    float score[ROWS][WIDTH];
    for (int j = 0; j < WIDTH; ++j) {
      const int key = min(from + j, end - 1);
      const size_t at = cache + (size_t)key * HEAD_DIM;
      FLOATS part[ROWS];
      UNROLLED for (int r = 0; r < ROWS; ++r) part[r] = 0;
      for (int c = 0; c < CHUNKS; ++c) {
        const FLOATS x = CHUNK(k, at, c);
        UNROLLED for (int r = 0; r < ROWS; ++r) part[r] += query[r][c] * x;
      }
      UNROLLED for (int r = 0; r < ROWS; ++r) {
        const bool is_seen = from + j >= seen[r].begin && from + j < seen[r].end;
        score[r][j] = is_seen ? sum_of(part[r]) : -INFINITY;
      }
    }
    float shrink[ROWS];
    UNROLLED for (int r = 0; r < ROWS; ++r) {
      const FLOATS s = CAT(vload, WIDTH)(0, score[r]);
      const float now = fmax(highest[r], max_of(s));
      const FLOATS weight = exp(s - now);
      shrink[r] = exp(highest[r] - now);
      highest[r] = now;
      total[r] = total[r] * shrink[r] + sum_of(weight);
      CAT(vstore, WIDTH)(weight, 0, score[r]);
    }
    const int keys = min(WIDTH, own_end - from);
    for (int c = 0; c < CHUNKS; ++c) {
      FLOATS own[ROWS];
      UNROLLED for (int r = 0; r < ROWS; ++r) own[r] = sum[r][c] * shrink[r];
      for (int j = 0; j < keys; ++j) {
        const FLOATS x = CHUNK(v, cache + (size_t)(from + j) * HEAD_DIM, c);
        UNROLLED for (int r = 0; r < ROWS; ++r) own[r] += score[r][j] * x;
      }
      UNROLLED for (int r = 0; r < ROWS; ++r) sum[r][c] = own[r];
    }
  }

#if SPLITS > 1
  __local float sums[SPLITS][ROWS][CHUNKS * WIDTH];
  __local float states[SPLITS][ROWS][2];
  UNROLLED for (int r = 0; r < ROWS; ++r) {
    for (int c = 0; c < CHUNKS; ++c) CAT(vstore, WIDTH)(sum[r][c], c, sums[split][r]);
    states[split][r][0] = highest[r];
    states[split][r][1] = total[r];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int r = 0; r < ROWS; ++r) {
    if (first_row + r >= packed) continue;
    float top = LOWEST, all = 0;
    for (int s = 0; s < SPLITS; ++s) top = fmax(top, states[s][r][0]);
    for (int s = 0; s < SPLITS; ++s) all += states[s][r][1] * exp(states[s][r][0] - top);
    for (int d = split; d < HEAD_DIM; d += SPLITS) {
      float value = 0;
      for (int s = 0; s < SPLITS; ++s) value += sums[s][r][d] * exp(states[s][r][0] - top);
      STORE1(value / all, dst, place[r] + d);
    }
  }
#else
  UNROLLED for (int r = 0; r < ROWS; ++r) {
    if (first_row + r >= packed) continue;
    for (int c = 0; c < CHUNKS; ++c) {
      store(sum[r][c] / total[r], dst, place[r] + (size_t)c * WIDTH, IN_CHUNK(c));
    }
  }
#endif
}
