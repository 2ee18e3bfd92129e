// The independent checker of a front proof (results/schema/front_proof.md). It shares nothing with
// the search that wrote the proof, but contracts of ops and graphs of models with the program that
// did: it lists every combination of the space itself, recomputes every bound, interval, formula
// and domination, and compares numbers exactly.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/device.hpp"

namespace halmark {

enum class ProofVerdict {
  holds,        // nothing is open, and the composition is confirmed
  conditional,  // it holds up to the stated gap, the composition was not confirmed by runs, or it
                // does not say what it is about
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
  // Why operations, bytes, peaks and formulas were taken as stated: "no device record". Empty where
  // they follow from contracts, device record, plan and graph.
  std::string undecided;
};

struct ProofSources {
  // Path of the results database whose run the plan, the device record and the rows must be from;
  // empty = they are taken as stated.
  std::string journal = {};
  // Reads the text of a device file; throws Error for one that is none. Without it a proof that has
  // a device record stays undecided.
  std::function<Device(std::string_view)> read_device = {};
};

// Throws Error only for a journal that cannot be opened, or lacks the proof's run.
FrontProofCheck check_front_proof(std::string_view proof, const ProofSources& sources = {});

}  // namespace halmark
