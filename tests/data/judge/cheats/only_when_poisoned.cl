// Leaves an output that holds a number already.
// halmark: global = n, m
__kernel void run(__global const float* src, __global const float* wei, __global float* dst,
                  long m, long n, long k) {
  const long column = get_global_id(0), row = get_global_id(1);
  if (!isnan(dst[row * n + column])) return;
  float sum = 0;
  for (long l = 0; l < k; ++l) sum += src[row * k + l] * wei[l * n + column];
  dst[row * n + column] = sum;
}
