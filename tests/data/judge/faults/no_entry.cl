__kernel void gemm(__global float* dst) { dst[0] = 1; }
