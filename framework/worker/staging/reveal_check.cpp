// Checksums find a kernel that changes its inputs to make the next call cheaper, canaries one that
// writes past an operand; both are looked at when outputs are revealed, never inside an interval.
#include "worker/staging/reveal_check.hpp"

#include "core/lists.hpp"

namespace halmark::worker {

RevealCheck::RevealCheck(ArgumentRing& ring) : ring_(ring), sums_(ring.operands().size()) {
  for (const auto i : indices(sums_)) {
    if (is_watched(i)) sums_[i] = sums_of(i);
  }
}

void RevealCheck::renew_inputs() {
  for (const auto i : indices(sums_)) {
    if (is_watched(i) && ring_.operands()[i].spec.role == Role::input) sums_[i] = sums_of(i);
  }
}

void RevealCheck::note_damage(protocol::Revealed& answer) {
  for (const auto i : indices(sums_)) {
    note_canaries(answer, i);
    if (!is_watched(i) || sums_of(i) == sums_[i]) continue;
    answer.inputs_intact = false;
    answer.damage = "operand " + ring_.operands()[i].spec.name + " was changed";
  }
  if (ring_.workspace().handle() && !ring_.workspace().canaries_intact()) {
    answer.canaries_intact = false;
    answer.damage = "memory around the workspace was written";
  }
}

void RevealCheck::note_canaries(protocol::Revealed& answer, std::size_t operand) {
  const StagedOperand& staged = ring_.operands()[operand];
  if (staged.info.bytes == 0) return;
  const int copies = staged.per_set ? ring_.sets() : 1;
  for (const int set : below(copies)) {
    if (ring_.buffer(set, operand).canaries_intact()) continue;
    answer.canaries_intact = false;
    answer.damage = "memory around operand " + staged.spec.name + " of set " + std::to_string(set) +
                    " was written";
  }
}

bool RevealCheck::is_watched(std::size_t operand) const {
  const StagedOperand& staged = ring_.operands()[operand];
  return staged.is_read_only() && staged.info.bytes != 0;
}

RevealCheck::Ends RevealCheck::sums_of(std::size_t operand) {
  return {ring_.buffer(0, operand).checksum(), ring_.buffer(ring_.sets() - 1, operand).checksum()};
}

}  // namespace halmark::worker
