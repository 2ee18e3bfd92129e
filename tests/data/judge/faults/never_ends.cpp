extern "C" void run(const float*, const float*, float* dst, int64_t, int64_t, int64_t) {
  for (volatile bool goes_on = true; goes_on;) *dst = 1;
}
