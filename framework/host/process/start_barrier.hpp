// Where processes that are measured together wait for each other before every sample: in memory
// that they share (barrier.hpp), or over the network (nodes/meeting.hpp).
#pragma once

#include <chrono>

namespace halmark {

enum class BarrierOutcome { released, aborted, timed_out };

class StartBarrier {
 public:
  virtual ~StartBarrier() = default;
  // Until `parties` have arrived. Who waits longer than `timeout` aborts it for everybody.
  virtual BarrierOutcome arrive_and_spin(int parties, std::chrono::nanoseconds timeout) = 0;
  // Ends every present and future wait.
  virtual void abort() = 0;

 protected:
  StartBarrier() = default;
  StartBarrier(const StartBarrier&) = default;
  StartBarrier(StartBarrier&&) = default;
  StartBarrier& operator=(const StartBarrier&) = default;
  StartBarrier& operator=(StartBarrier&&) = default;
};

}  // namespace halmark
