// Ops that need a whole row before its first result. ITEMS work-items share a row, ROWS rows are a
// work-group; a row is read in vectors of WIDTH. OP_<NAME> chooses the entry. Behind vectors.cl.

// What the ITEMS of a row hold, combined; every work-item of the group takes part.
#if ITEMS == 1
#define ROOM
#define row_sum(own) (own)
#define row_max(own) (own)
#else
#define ROOM __local float room[ROWS][ITEMS];
#define row_sum(own) combined(own, room[get_local_id(1)], 0)
#define row_max(own) combined(own, room[get_local_id(1)], 1)
float combined(float own, __local float* room, int is_max) {
  const int item = (int)get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);  // the last one may still be read
  room[item] = own;
  for (int step = ITEMS / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < step) {
      const float a = room[item], b = room[item + step];
      room[item] = is_max ? fmax(a, b) : a + b;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return room[0];
}
#endif

#define ENTRY __kernel __attribute__((reqd_work_group_size(ITEMS, ROWS, 1))) void
// A group's last rows may not exist: they have no columns, and meet the barriers all the same.
#define OWN_ROW                                                        \
  ROOM const int item = (int)get_local_id(0);                          \
  const int row = (int)get_group_id(0) * ROWS + (int)get_local_id(1); \
  const int end = row < rows ? cols : 0;                               \
  const size_t first = (size_t)row * cols;
#define EACH(c) for (int c = item * WIDTH; c < end; c += ITEMS * WIDTH)

#if defined(OP_RMSNORM)
ENTRY run(const int rows, const int cols, __global const SRC* restrict src,
          __global const float* restrict gain, __global DST* restrict dst) {
  OWN_ROW
  FLOATS squares = 0;
  EACH(c) {
    const FLOATS x = load(src, first + c, end - c, 0);
    squares += x * x;
  }
  const float inverse = 1 / sqrt(row_sum(sum_of(squares)) / cols + EPSILON);
  EACH(c) {
    const FLOATS x = load(src, first + c, end - c, 0);
    store(x * inverse * load_f32(gain, c, end - c), dst, first + c, end - c);
  }
}
#endif

#if defined(OP_LAYERNORM)
ENTRY run(const int rows, const int cols, __global const SRC* restrict src,
          __global const float* restrict gain, __global const float* restrict shift,
          __global DST* restrict dst) {
  OWN_ROW
  FLOATS sum = 0, squares = 0;
  EACH(c) sum += load(src, first + c, end - c, 0);
  const float mean = row_sum(sum_of(sum)) / cols;
  EACH(c) {
    const FLOATS off = load(src, first + c, end - c, mean) - mean;
    squares += off * off;
  }
  const float inverse = 1 / sqrt(row_sum(sum_of(squares)) / cols + EPSILON);
  EACH(c) {
    const FLOATS off = load(src, first + c, end - c, 0) - mean;
    const FLOATS value = off * inverse * load_f32(gain, c, end - c) + load_f32(shift, c, end - c);
    store(value, dst, first + c, end - c);
  }
}
#endif

#if defined(OP_SOFTMAX)
ENTRY run(const int rows, const int cols, __global const SRC* restrict src,
          __global DST* restrict dst) {
  OWN_ROW
  FLOATS largest = -INFINITY, sum = 0;
  EACH(c) largest = fmax(largest, load(src, first + c, end - c, -INFINITY));
  const float highest = row_max(max_of(largest));
  EACH(c) sum += exp(load(src, first + c, end - c, -INFINITY) - highest);
  const float scale = 1 / row_sum(sum_of(sum));
  EACH(c) {
    const FLOATS x = load(src, first + c, end - c, 0);
    store(exp(x - highest) * scale, dst, first + c, end - c);
  }
}
#endif

#if defined(OP_QUANTIZE)
ENTRY run(const int rows, const int cols, __global const SRC* restrict src,
          __global DST* restrict dst, __global float* restrict scale) {
  OWN_ROW
  FLOATS largest = 0;
  EACH(c) largest = fmax(largest, fabs(load(src, first + c, end - c, 0)));
  const float unit = row_max(max_of(largest)) / 127;
  if (item == 0 && row < rows) scale[row] = unit;
  EACH(c) {
    const FLOATS x = load(src, first + c, end - c, 0);
    store(unit > 0 ? x / unit : (FLOATS)(0), dst, first + c, end - c);
  }
}
#endif
