// What a staged kernel shows of itself: outputs, canaries, and whether it left its inputs alone.
#include <algorithm>
#include <cstring>

#include "worker/request_failed.hpp"
#include "worker/staged_kernel.hpp"

namespace halmark::worker {
namespace {

bool must_stay(Role role) { return role == Role::input || role == Role::constant; }

}  // namespace

// Copies of a packed set have equal sums, so each buffer is summed once and all are compared.
// Reading a ring of half a gigabyte takes 50 ms: of constants only the first and last set are read.
void StagedKernel::remember_checksums() {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!must_stay(operands_[i].spec.role) || operands_[i].info.bytes == 0) {
      checksums_.insert(checksums_.end(), 2, 0);
      continue;
    }
    checksums_.push_back(buffer(0, i).checksum());
    checksums_.push_back(buffer(staged_.sets - 1, i).checksum());
  }
}

StagedKernel::Shown StagedKernel::reveal(const std::vector<int>& sets) {
  Shown shown;
  shown.answer.id = staged_.id;
  std::int64_t total = 0;
  for (const int set : sets) {
    if (set < 0 || set >= staged_.sets) {
      throw RequestFailed(HM_INVALID_ARGUMENT, "reveal",
                          "set " + std::to_string(set) + " of " + std::to_string(staged_.sets));
    }
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (!operands_[i].is_written()) continue;
      const auto bytes = static_cast<std::int64_t>(operands_[i].info.bytes);
      shown.answer.parts.push_back({set, static_cast<std::int64_t>(i), total, bytes});
      total += (bytes + 63) / 64 * 64;
    }
  }
  shown.memory = SharedMemory::create("halmark-reveal", std::max<std::int64_t>(total, 1), false);
  for (const protocol::RevealedPart& part : shown.answer.parts) {
    buffer(part.set, static_cast<std::size_t>(part.operand))
        .read(shown.memory.data() + part.offset, static_cast<std::uint64_t>(part.bytes));
  }
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const int copies = operands_[i].per_set ? staged_.sets : 1;
    for (int set = 0; set < copies; ++set) {
      if (operands_[i].info.bytes == 0 || buffer(set, i).canaries_intact()) continue;
      shown.answer.canaries_intact = false;
      shown.answer.damage = "memory around operand " + operands_[i].spec.name + " of set " +
                            std::to_string(set) + " was written";
    }
    if (!must_stay(operands_[i].spec.role) || operands_[i].info.bytes == 0) continue;
    if (buffer(0, i).checksum() == checksums_[2 * i] &&
        buffer(staged_.sets - 1, i).checksum() == checksums_[2 * i + 1]) {
      continue;
    }
    shown.answer.inputs_intact = false;
    shown.answer.damage = "operand " + operands_[i].spec.name + " was changed";
  }
  if (workspace_.handle() && !workspace_.canaries_intact()) {
    shown.answer.canaries_intact = false;
    shown.answer.damage = "memory around the workspace was written";
  }
  return shown;
}

}  // namespace halmark::worker
