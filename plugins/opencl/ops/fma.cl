// dst = x after `iterations` times x = x * 0.5 + 0.25, kept in registers.
// Build options: T (element type), LANES (independent chains per work-item, to hide latency).
#if defined(NEEDS_FP16)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#if defined(NEEDS_FP64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT ON

__kernel void multiply_add(const ulong lanes, const ulong iterations, __global const T* restrict x,
                           __global T* restrict dst) {
  const ulong stride = get_global_size(0);
  const ulong first = get_global_id(0);
  T value[LANES];
  for (int l = 0; l < LANES; ++l) {
    const ulong at = first + l * stride;
    value[l] = at < lanes ? x[at] : (T)0;
  }
  for (ulong i = 0; i < iterations; ++i) {
    for (int l = 0; l < LANES; ++l) value[l] = value[l] * (T)0.5f + (T)0.25f;
  }
  for (int l = 0; l < LANES; ++l) {
    const ulong at = first + l * stride;
    if (at < lanes) dst[at] = value[l];
  }
}
