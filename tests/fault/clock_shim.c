/* Preloaded: the clock of the wall is off by HALMARK_TEST_CLOCK_OFFSET_S seconds, and by
   HALMARK_TEST_CLOCK_RATE more with every second that passes. The monotonic clock stays as it is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

typedef int (*clock_function)(clockid_t, struct timespec*);

static int real_clock(clockid_t clock, struct timespec* out) {
  static clock_function next = NULL;
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "clock_gettime");
  return next(clock, out);
}

static long long number_of(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? 0 : atoll(text);
}

static long long offset_ns(void) {
  static long long begin_ns = 0;
  struct timespec now;
  real_clock(CLOCK_MONOTONIC, &now);
  const long long now_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
  if (begin_ns == 0) begin_ns = now_ns;
  return number_of("HALMARK_TEST_CLOCK_OFFSET_S") * 1000000000LL +
         number_of("HALMARK_TEST_CLOCK_RATE") * (now_ns - begin_ns);
}

int clock_gettime(clockid_t clock, struct timespec* out) {
  const int result = real_clock(clock, out);
  if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  const long long now_ns = out->tv_sec * 1000000000LL + out->tv_nsec + offset_ns();
  out->tv_sec = now_ns / 1000000000LL;
  out->tv_nsec = now_ns % 1000000000LL;
  return 0;
}

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* restrict out, void* restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}
