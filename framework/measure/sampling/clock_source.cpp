// The kernel's clocks directly: std::chrono has none for the CPU time of a process or a thread.
#include "measure/sampling/clock_source.hpp"

#include "core/numeric/cast.hpp"
#include "core/text/units.hpp"

namespace halmark {

double read_clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return as_double(now.tv_sec) * ns_per_s + as_double(now.tv_nsec);
}

double SystemClock::wall_ns() { return read_clock_ns(CLOCK_MONOTONIC); }
double SystemClock::cpu_ns() { return read_clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace halmark
