// The independent checker of a front proof (results/schema/front_proof.md). It shares nothing with
// the search that wrote the proof: it lists every combination of the space itself, recomputes every
// bound, interval and domination from the records, and compares numbers exactly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halmark {

enum class ProofVerdict {
  holds,        // nothing is open, and the composition is confirmed
  conditional,  // it holds up to the stated gap, or the composition was not confirmed by runs
  broken,       // the first record that does not follow, and why
  unreadable,   // truncated, an unknown version, rows that the journal does not have
};
std::string_view proof_verdict_name(ProofVerdict verdict);

struct FrontProofCheck {
  ProofVerdict verdict = ProofVerdict::unreadable;
  std::size_t line = 0;  // of the record that is at fault; 0 = none
  std::string reason;    // of broken and unreadable, and of conditional
  // What was recomputed.
  std::uint64_t configurations = 0, evaluated = 0, dominated = 0, failed = 0, open = 0;
  std::uint64_t stated_exclusions = 0;  // combinations left out by a rule that has no expression
  std::uint64_t leaves = 0, front = 0, certain = 0;
  std::uint64_t kernels = 0, kernels_measured = 0, alarms = 0;
  double gap = 0, alpha = 0;
  bool rows_compared = false;
};

// `journal`: path of the results database whose rows the intervals must follow from; empty = they
// are taken as stated. Throws Error only for a journal that cannot be opened.
FrontProofCheck check_front_proof(std::string_view proof, const std::string& journal = {});

}  // namespace halmark
