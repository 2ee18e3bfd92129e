// Copies of outputs for the parent, in memory of a bounded size that it maps afterwards.
#pragma once

#include <cstdint>
#include <vector>

#include "host/process/shared_memory.hpp"
#include "host/protocol.hpp"
#include "worker/staging/argument_ring.hpp"

namespace halmark::worker {

class KeptOutputs {
 public:
  // Room for `executions` executions of which any may be replaced by a later one, and for `others`
  // more. Takes `memory` where it is large enough and renews it where it is not.
  KeptOutputs(ArgumentRing& ring, int executions, int others, SharedMemory& memory);

  // Outputs that a kernel writes without reading them, by their place in the contract.
  const std::vector<std::size_t>& operands() const { return operands_; }
  std::int64_t bytes_per_execution() const;
  // The longest stretch of one output that is kept.
  static std::uint64_t stretch_bytes(std::uint64_t output_bytes);

  // A stretch of each output of `set`, into place `at` < executions. `random` says from where;
  // every other time it holds the line that was marked before the execution. Throws RequestFailed.
  void keep_execution(int at, std::int64_t sample, int set, std::uint64_t random);
  // A stretch of one output beside those. False when there is no more room.
  bool keep(protocol::KeptOutput what);

  // All that is kept, in the order of the memory.
  std::vector<protocol::KeptOutput> take();

 private:
  void copy(protocol::KeptOutput& what);

  ArgumentRing& ring_;
  SharedMemory& memory_;
  std::vector<std::size_t> operands_;
  std::vector<std::vector<protocol::KeptOutput>> executions_;  // by place
  std::vector<protocol::KeptOutput> others_;
  std::int64_t end_ = 0, capacity_ = 0;  // of the others
};

}  // namespace halmark::worker
