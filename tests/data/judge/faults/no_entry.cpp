extern "C" void gemm(const float*, const float*, float*, int64_t, int64_t, int64_t) {}
