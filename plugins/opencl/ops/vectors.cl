// Rows in vectors of WIDTH floats, the last one cut at the row's end. Behind elements.cl.

#define FLOATS CAT(float, WIDTH)

// `count` elements from element `at` on, at most WIDTH; places beyond them hold `fill`.
FLOATS load(__global const SRC* p, size_t at, int count, float fill) {
  if (count >= WIDTH) return LOAD(WIDTH, p, at);
  float part[WIDTH];
  for (int i = 0; i < WIDTH; ++i) part[i] = fill;
  for (int i = 0; i < count; ++i) part[i] = LOAD1(p, at + i);
  return CAT(vload, WIDTH)(0, part);
}

// The same of f32 operands: gains, angles, scales.
FLOATS load_f32(__global const float* p, size_t at, int count) {
  if (count >= WIDTH) return CAT(vload, WIDTH)(0, p + at);
  float part[WIDTH];
  for (int i = 0; i < WIDTH; ++i) part[i] = 0;
  for (int i = 0; i < count; ++i) part[i] = p[at + i];
  return CAT(vload, WIDTH)(0, part);
}

void store(FLOATS value, __global DST* p, size_t at, int count) {
  if (count >= WIDTH) {
    STORE(WIDTH, value, p, at);
    return;
  }
  float part[WIDTH];
  CAT(vstore, WIDTH)(value, 0, part);
  for (int i = 0; i < count; ++i) STORE1(part[i], p, at + i);
}

float sum4(float4 v) { return (v.x + v.y) + (v.z + v.w); }
float max4(float4 v) { return fmax(fmax(v.x, v.y), fmax(v.z, v.w)); }
#if WIDTH == 4
#define sum_of(v) sum4(v)
#define max_of(v) max4(v)
#elif WIDTH == 8
float sum_of(float8 v) { return sum4(v.lo + v.hi); }
float max_of(float8 v) { return max4(fmax(v.lo, v.hi)); }
#else
float sum_of(float16 v) {
  const float8 half_sums = v.lo + v.hi;
  return sum4(half_sums.lo + half_sums.hi);
}
float max_of(float16 v) {
  const float8 larger = fmax(v.lo, v.hi);
  return max4(fmax(larger.lo, larger.hi));
}
#endif
