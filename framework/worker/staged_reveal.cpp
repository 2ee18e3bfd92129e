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

void StagedKernel::require_sets(const std::vector<int>& sets) const {
  for (const int set : sets) {
    if (set >= 0 && set < staged_.sets) continue;
    throw RequestFailed(HM_INVALID_ARGUMENT, "reveal",
                        "set " + std::to_string(set) + " of " + std::to_string(staged_.sets));
  }
}

void StagedKernel::execute_afresh(const std::vector<int>& sets, int inputs_from) {
  const bool accumulates =
      std::ranges::any_of(operands_, [](const Operand& o) { return o.spec.role == Role::in_out; });
  if (accumulates || is_collective_) {
    throw RequestFailed(HM_INVALID_ARGUMENT, "reveal",
                        "new inputs for a kernel that accumulates or works with other ranks");
  }
  for (const int set : sets) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const Role role = operands_[i].spec.role;
      if (role == Role::input) fill_operand(set, i, inputs_from);
      if (role == Role::output) buffer(set, i).poison();
    }
    check(run(set, 1), "reveal");
  }
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].spec.role != Role::input || operands_[i].info.bytes == 0) continue;
    checksums_[2 * i] = buffer(0, i).checksum();
    checksums_[2 * i + 1] = buffer(staged_.sets - 1, i).checksum();
  }
}

void StagedKernel::note_damage(protocol::Revealed& answer) {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const int copies = operands_[i].per_set ? staged_.sets : 1;
    for (int set = 0; set < copies; ++set) {
      if (operands_[i].info.bytes == 0 || buffer(set, i).canaries_intact()) continue;
      answer.canaries_intact = false;
      answer.damage = "memory around operand " + operands_[i].spec.name + " of set " +
                      std::to_string(set) + " was written";
    }
    if (!must_stay(operands_[i].spec.role) || operands_[i].info.bytes == 0) continue;
    if (buffer(0, i).checksum() == checksums_[2 * i] &&
        buffer(staged_.sets - 1, i).checksum() == checksums_[2 * i + 1]) {
      continue;
    }
    answer.inputs_intact = false;
    answer.damage = "operand " + operands_[i].spec.name + " was changed";
  }
  if (workspace_.handle() && !workspace_.canaries_intact()) {
    answer.canaries_intact = false;
    answer.damage = "memory around the workspace was written";
  }
}

StagedKernel::Shown StagedKernel::reveal(const protocol::Reveal& request) {
  require_sets(request.sets);
  Shown shown;
  shown.answer.id = staged_.id;
  note_damage(shown.answer);
  if (request.inputs_from) execute_afresh(request.sets, *request.inputs_from);
  std::int64_t total = 0;
  for (const int set : request.sets) {
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
  return shown;
}

}  // namespace halmark::worker
