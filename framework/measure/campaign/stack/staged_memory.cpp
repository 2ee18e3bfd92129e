// What a stack took of memory: as its workers allocated it, and as the system counts them. An arena
// is mapped by the worker alone: this process let go of its pages when it had made it.
#include <algorithm>

#include "core/lists.hpp"
#include "host/process/operand_block.hpp"
#include "kernels/contract.hpp"
#include "measure/campaign/stack/staged_stacks.hpp"

namespace halmark {
namespace {

// Memory of a device is its own business.
std::int64_t around_bytes(const protocol::StagedMemory& entry) {
  if (!entry.is_host) return 0;
  const auto bytes = as_uint64(entry.bytes);
  const auto alignment = as_uint64(entry.alignment);
  return as_int64(whole_pages(operand_block_bytes(bytes, alignment)) - bytes);
}

std::vector<RankStaging::Buffers> buffers_of(const protocol::Staged& staged) {
  std::vector<RankStaging::Buffers> out;
  for (const protocol::StagedMemory& entry : staged.memory) {
    out.push_back({.operand = entry.operand,
                   .bytes = entry.bytes,
                   .count = entry.buffers,
                   .allocated_bytes = entry.allocated_bytes,
                   .around_bytes = around_bytes(entry),
                   .is_host = entry.is_host});
  }
  return out;
}

}  // namespace

void StagedStacks::read_baselines() { baselines_ = crew_->memory(); }

RankStaging StagedStacks::staging_of(std::size_t rank) const {
  RankStaging out;
  const Stack& stack = per_rank_[rank];
  for (const auto id : indices(kernels_)) {
    const Held& held = held_[rank][id];
    if (held.sets == 0) continue;
    const bool is_of_stack = std::ranges::any_of(
        stack.kernels, [&](const KernelCase& k) { return k.shares_arguments(kernels_[id]); });
    out.kernels.push_back({.problem = complete_problem(kernels_[id].problem),
                           .instances = is_of_stack ? held.instances : 0,
                           .workspace_bytes = held.staged.workspace_bytes,
                           .sets = held.staged.sets,
                           .memory = buffers_of(held.staged)});
  }
  return out;
}

std::vector<RankStaging> StagedStacks::memory() {
  std::vector<RankStaging> out;
  if (!is_staged_) return out;
  const std::vector<Outcome<protocol::MemoryAnswer>> now = crew_->memory();
  for (const auto rank : indices(per_rank_)) {
    RankStaging& of_rank = out.emplace_back(staging_of(rank));
    const auto read = [&](const Outcome<protocol::MemoryAnswer>& answer) {
      if (answer && answer->set_size_bytes) return answer->set_size_bytes;
      of_rank.reason = answer ? answer->reason : answer.failure.reason;
      return std::optional<std::int64_t>();
    };
    of_rank.baseline_bytes = read(baselines_[rank]);
    of_rank.set_size_bytes = read(now[rank]);
    if (now[rank]) of_rank.probe_bytes = now[rank]->probe_bytes;
  }
  return out;
}

}  // namespace halmark
