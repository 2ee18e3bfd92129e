// Fresh pages cost more than the copies do, so the memory outlives the kernel; a stretch of a large
// output costs what a small one does, and the parent says what that finds.
#include "worker/checks/kept_outputs.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"

namespace halmark::worker {
namespace {

constexpr std::int64_t lines_bytes = 32 << 10;  // single lines, beside whole stretches

std::int64_t aligned(std::uint64_t bytes) {
  return as_int64((bytes + line_bytes - 1) / line_bytes * line_bytes);
}

}  // namespace

std::uint64_t KeptOutputs::stretch_bytes(std::uint64_t output_bytes) {
  return std::min<std::uint64_t>(output_bytes, protocol::KeptOutput::kept_bytes_max);
}

KeptOutputs::KeptOutputs(ArgumentRing& ring, int executions, int others, SharedMemory& memory)
    : ring_(ring), memory_(memory), executions_(as_size(executions)) {
  for (const auto i : indices(ring.operands())) {
    const StagedOperand& operand = ring.operands()[i];
    if (operand.spec.role == Role::output && operand.info.bytes > 0) operands_.push_back(i);
  }
  end_ = executions * bytes_per_execution();
  capacity_ = end_ + others * bytes_per_execution() + lines_bytes;
  if (capacity_ > 0 && memory_.bytes() < capacity_) {
    memory_ = {};
    memory_ = SharedMemory::create("halmark-kept", capacity_, true);
  }
}

std::int64_t KeptOutputs::bytes_per_execution() const {
  std::int64_t total = 0;
  for (const std::size_t operand : operands_) {
    total += aligned(stretch_bytes(ring_.operands()[operand].info.bytes));
  }
  return total;
}

void KeptOutputs::keep_execution(int at, std::int64_t sample, int set, std::uint64_t random) {
  auto& place = executions_[as_size(at)];
  place.clear();
  std::int64_t offset = at * bytes_per_execution();
  for (const std::size_t operand : operands_) {
    const std::uint64_t bytes = ring_.operands()[operand].info.bytes;
    const std::uint64_t stretch = stretch_bytes(bytes);
    const std::uint64_t last = bytes - stretch;  // where a stretch may begin at the latest
    std::uint64_t begin = uniform_below(hash_u64(random, operand), last / line_bytes + 1);
    begin *= line_bytes;
    if (random % 2 == 0) {
      const std::uint64_t marked = ring_.marked_at(bytes);
      begin = std::min(marked - std::min(marked, begin % stretch / line_bytes * line_bytes), last);
    }
    protocol::KeptOutput what{.sample = sample,
                              .set = set,
                              .operand = as_int64(operand),
                              .begin = as_int64(begin / line_bytes * line_bytes),
                              .bytes = as_int64(stretch),
                              .offset = offset};
    copy(what);
    place.push_back(what);
    offset += aligned(stretch);
  }
}

bool KeptOutputs::keep(protocol::KeptOutput what) {
  if (what.bytes > capacity_ - end_) return false;
  what.offset = end_;
  copy(what);
  end_ += aligned(as_uint64(what.bytes));
  others_.push_back(what);
  return true;
}

void KeptOutputs::copy(protocol::KeptOutput& what) {
  ring_.buffer(what.set, as_size(what.operand))
      .read_at(as_uint64(what.begin), memory_.data() + what.offset, as_uint64(what.bytes));
}

std::vector<protocol::KeptOutput> KeptOutputs::take() {
  std::vector<protocol::KeptOutput> all;
  for (const auto& place : executions_) append_all(all, place);
  append_all(all, others_);
  executions_.clear();
  others_.clear();
  return all;
}

}  // namespace halmark::worker
