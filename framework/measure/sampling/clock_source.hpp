// The clocks that samples are taken with. Injected, so that a test can script time.
#pragma once

namespace halmark {

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
