// What a staged kernel shows of itself: outputs, canaries, and whether it left its inputs alone.
// The parent draws the sets after sampling, so that a plugin cannot prepare an answer for them.
#include "worker/request_failed.hpp"
#include "worker/staging/staged_kernel.hpp"

namespace halmark::worker {

void StagedKernel::require_sets(const std::vector<int>& sets) const {
  for (const int set : sets) {
    if (set >= 0 && set < ring_.sets()) continue;
    throw RequestFailed(HM_INVALID_ARGUMENT, "reveal",
                        "set " + std::to_string(set) + " of " + std::to_string(ring_.sets()));
  }
}

void StagedKernel::execute_afresh(const std::vector<int>& sets, int inputs_from) {
  if (ring_.has(Role::in_out) || is_collective()) {
    throw RequestFailed(HM_INVALID_ARGUMENT, "reveal",
                        "new inputs for a kernel that accumulates or works with other ranks");
  }
  for (const int set : sets) {
    for (std::size_t i = 0; i < ring_.operands().size(); ++i) {
      const Role role = ring_.operands()[i].spec.role;
      if (role == Role::input) ring_.fill_operand(set, i, inputs_from);
      if (role == Role::output) ring_.buffer(set, i).poison();
    }
    check(run(set, 1), "reveal");
  }
}

StagedKernel::Shown StagedKernel::reveal(const protocol::Reveal& request) {
  require_sets(request.sets);
  Shown shown;
  shown.answer.id = staged_.id;
  check_->note_damage(shown.answer);
  if (request.inputs_from) execute_afresh(request.sets, *request.inputs_from);
  std::int64_t total = 0;
  for (const int set : request.sets) {
    for (std::size_t i = 0; i < ring_.operands().size(); ++i) {
      if (!ring_.operands()[i].is_written()) continue;
      const auto bytes = static_cast<std::int64_t>(ring_.operands()[i].info.bytes);
      shown.answer.parts.push_back({set, static_cast<std::int64_t>(i), total, bytes});
      total += (bytes + 63) / 64 * 64;
    }
  }
  shown.memory = SharedMemory::create("halmark-reveal", std::max<std::int64_t>(total, 1), false);
  for (const protocol::RevealedPart& part : shown.answer.parts) {
    ring_.buffer(part.set, static_cast<std::size_t>(part.operand))
        .read(shown.memory.data() + part.offset, static_cast<std::uint64_t>(part.bytes));
  }
  // Last, because what still works when `wait` has returned must not be given time.
  if (request.inputs_from) check_->renew_inputs();
  return shown;
}

}  // namespace halmark::worker
