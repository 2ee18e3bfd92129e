#include <cstdlib>

extern "C" void run(const float*, const float*, float*, int64_t, int64_t, int64_t) {
  for (;;) memset(malloc(1 << 26), 1, 1 << 26);
}
