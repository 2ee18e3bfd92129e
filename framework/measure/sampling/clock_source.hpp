// The clocks that samples are taken with. Injected, so that a test can script time.
#pragma once

#include <ctime>

namespace halmark {

// CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID in ns; 0 where it cannot be
// read.
double read_clock_ns(clockid_t clock);

class ClockSource {
 public:
  virtual ~ClockSource() = default;
  virtual double wall_ns() = 0;  // monotonic, comparable between processes of one machine
  virtual double cpu_ns() = 0;   // all threads of this process
};

// CLOCK_MONOTONIC and CLOCK_PROCESS_CPUTIME_ID.
class SystemClock : public ClockSource {
 public:
  double wall_ns() override;
  double cpu_ns() override;
};

}  // namespace halmark
