// Durations on the host's monotonic clock, for limits and costs; samples have a clock source that a
// test can script (measure/sampling/clock_source.hpp).
#pragma once

#include <chrono>

namespace halmark {

using SteadyClock = std::chrono::steady_clock;

inline double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

}  // namespace halmark
