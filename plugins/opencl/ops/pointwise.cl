// Ops whose values need no others, or the one half a head away (rope). A work-item takes SPAN
// columns of one row in vectors of WIDTH; GROUP of them, side by side, are a work-group. OP_<NAME>
// chooses the entry. Behind vectors.cl.

#define ENTRY __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
#define OWN_SPAN                                                                \
  const int row = (int)get_global_id(1), begin = (int)get_global_id(0) * SPAN; \
  const int end = row < rows ? min(cols, begin + SPAN) : 0;                     \
  const size_t first = (size_t)row * cols;
#define EACH(c) for (int c = begin; c < end; c += WIDTH)

FLOATS silu(FLOATS x) { return x / (1 + exp(-x)); }
FLOATS gelu_tanh(FLOATS x) {
  return 0.5f * x * (1 + tanh(0.79788456080286536f * (x + 0.044715f * x * x * x)));
}

#if defined(OP_RESIDUAL_ADD)
ENTRY run(const int rows, const int cols, __global const SRC* restrict a,
          __global const SRC* restrict b, __global DST* restrict dst) {
  OWN_SPAN
  EACH(c) {
    const FLOATS sum = load(a, first + c, end - c, 0) + load(b, first + c, end - c, 0);
    store(sum, dst, first + c, end - c);
  }
}
#endif

#if defined(OP_ACTIVATION)
FLOATS act(FLOATS x) {
#if KIND == 0
  return fmax(x, (FLOATS)(0));
#elif KIND == 1
  return gelu_tanh(x);
#elif KIND == 2
  return silu(x);
#else
  const FLOATS positive = fmax(x, (FLOATS)(0));
  return positive * positive;
#endif
}
ENTRY run(const int rows, const int cols, __global const SRC* restrict src,
          __global DST* restrict dst) {
  OWN_SPAN
  EACH(c) store(act(load(src, first + c, end - c, 0)), dst, first + c, end - c);
}
#endif

#if defined(OP_GATED_ACTIVATION)
ENTRY run(const int rows, const int cols, __global const SRC* restrict src,
          __global DST* restrict dst) {
  OWN_SPAN
  EACH(c) {
    const FLOATS gate = load(src, 2 * first + c, end - c, 0);
    const FLOATS up = load(src, 2 * first + cols + c, end - c, 0);
    store((KIND == 0 ? silu(gate) : gelu_tanh(gate)) * up, dst, first + c, end - c);
  }
}
#endif

#if defined(OP_EMBEDDING)
// An id outside the table would read foreign memory: it gives zeros.
ENTRY run(const int rows, const int cols, const int vocab, __global const int* restrict ids,
          __global const SRC* restrict table, __global DST* restrict dst) {
  OWN_SPAN
  const int id = row < rows ? ids[row] : 0;
  const bool is_known = id >= 0 && id < vocab;
  EACH(c) {
    const FLOATS value =
        is_known ? load(table, (size_t)id * cols + c, end - c, 0) : (FLOATS)(0);
    store(value, dst, first + c, end - c);
  }
}
#endif

#if defined(OP_DEQUANTIZE)
ENTRY run(const int rows, const int cols, __global const SRC* restrict src,
          __global const float* restrict row_scale, __global const float* restrict col_scale,
          __global DST* restrict dst) {
  OWN_SPAN
  const float scale = row < rows ? row_scale[row] : 0;
  EACH(c) {
    const FLOATS value = load(src, first + c, end - c, 0) * scale;
    store(value * load_f32(col_scale, c, end - c), dst, first + c, end - c);
  }
}
#endif

#if defined(OP_ROPE)
// A work-item takes SPAN heads of one row: pairs (j, j + rotary / 2), the rest of a head is copied.
ENTRY run(const int rows, const int cols, const int heads, const int rotary,
          __global const SRC* restrict src, __global const float* restrict cosine,
          __global const float* restrict sine, __global DST* restrict dst) {
  const int row = (int)get_global_id(1), begin = (int)get_global_id(0) * SPAN;
  const int end = row < rows ? min(heads, begin + SPAN) : 0;
  const int half_width = rotary / 2;
  const size_t angles = (size_t)row * half_width;
  for (int head = begin; head < end; ++head) {
    const size_t low = ((size_t)row * heads + head) * cols, high = low + half_width;
    for (int c = 0; c < half_width; c += WIDTH) {
      const int count = half_width - c;
      const FLOATS x = load(src, low + c, count, 0), y = load(src, high + c, count, 0);
      const FLOATS u = load_f32(cosine, angles + c, count), v = load_f32(sine, angles + c, count);
      store(x * u - y * v, dst, low + c, count);
      store(y * u + x * v, dst, high + c, count);
    }
    for (int c = rotary; c < cols; c += WIDTH) {
      store(load(src, low + c, cols - c, 0), dst, low + c, cols - c);
    }
  }
}
#endif
