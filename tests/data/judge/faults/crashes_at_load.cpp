#include <cstdlib>

__attribute__((constructor)) static void load() { abort(); }

extern "C" void run(const float*, const float*, float*, int64_t, int64_t, int64_t) {}
