extern "C" void run(const float*, const float*, float*, int64_t, int64_t, int64_t k) {
  *reinterpret_cast<volatile int*>(k - k) = 1;
}
