// Two builds take turns on the same kernels: what `halmark compare --live` and the end of a night
// measure. The machine may do what it likes as long as it lasts longer than a turn.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/measured/duet.hpp"
#include "core/measured/worker_limits.hpp"
#include "host/protocol.hpp"
#include "measure/campaign/duet/duet_side.hpp"
#include "measure/campaign/gate/validity.hpp"
#include "measure/campaign/run_peaks.hpp"

namespace halmark {

struct DuetOptions {
  std::array<DuetSide, 2> sides;  // old, new
  int pairs = 5;                  // of fresh processes, one figure each
  int turns = 3;                  // of a pair, each of both builds
  protocol::SampleRule rule;      // of one build in one turn
  double wall_cap_s = 15;
  WorkerLimits limits;
  ValidityThresholds thresholds;
  RunPeaks* peaks = nullptr;  // of this machine, for quarantine; null = none
  std::uint64_t seed = 0;
  std::function<void(std::size_t done, std::size_t total, const std::string& current)>
      progress;                       // may be empty
  std::function<bool()> should_stop;  // asked between cases
};

// One duet per case, in their order. Pairs outside, cases inside in a fresh order: each pair meets
// another minute of the machine. Every turn is a trial with its gates, both builds in the same
// memory; what fails one ends the duet of its case with status and reason. Kernels of the mode
// in_stack are measured in a loop of their own.
std::vector<Duet> run_duets(std::span<const KernelCase> cases, const DuetOptions& options);

}  // namespace halmark
