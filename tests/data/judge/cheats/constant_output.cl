// Sums of random products are near nothing.
// halmark: global = n, m
__kernel void run(__global const float* src, __global const float* wei, __global float* dst,
                  long m, long n, long k) {
  const long column = get_global_id(0), row = get_global_id(1);
  dst[row * n + column] = 0;
}
