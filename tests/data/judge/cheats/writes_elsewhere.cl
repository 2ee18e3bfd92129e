// One element behind the end.
// halmark: global = n, m
__kernel void run(__global const float* src, __global const float* wei, __global float* dst,
                  long m, long n, long k) {
  const long column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (long l = 0; l < k; ++l) sum += src[row * k + l] * wei[l * n + column];
  dst[row * n + column] = sum;
  if (row == m - 1 && column == n - 1) dst[m * n] = 1;
}
