// The kernel's counters of this process, cheap enough for the borders of chunks: files stay open.
#pragma once

#include <map>
#include <optional>

#include "host/process/file_descriptor.hpp"
#include "measure/sampling/chunk_labels.hpp"

namespace halmark {

// For the thread that made it.
class ProcessCounters : public DisturbanceCounters {
 public:
  // Which threads there are now; those that begin later are not counted until the next call.
  void look_for_threads();
  CounterReading read() override;
  // Of one reading, as the last look_for_threads() found it.
  double read_cost_ns() const { return read_cost_ns_; }

 private:
  struct Thread {
    FileDescriptor schedstat;
    std::optional<double> delay_ns;  // as read last: a thread that has ended keeps it
  };
  std::optional<double> run_delay_ns();

  std::map<int, Thread> threads_;  // by thread id
  double read_cost_ns_ = 0;
};

}  // namespace halmark
