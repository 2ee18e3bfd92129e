// One trial: stage -> reveal -> gate -> sample -> reveal -> gate -> drop -> verdict. Ends in
// exactly one row, whatever happened.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "core/measured/measurement.hpp"
#include "measure/campaign/bandwidth_state.hpp"
#include "measure/campaign/crew.hpp"
#include "measure/campaign/gate/validity.hpp"
#include "measure/campaign/run_peaks.hpp"

namespace halmark {

// What the gate has already compared in full during this run.
struct GateHistory {
  std::set<std::string> reduced_problems;  // op, dtypes and implementation
  std::set<std::string> shapes;            // problem and implementation
};

struct TrialOptions {
  protocol::SampleRule rule;
  double wall_cap_s = 15;
  ValidityThresholds thresholds;
  RunPeaks* peaks = nullptr;            // of this machine, for quarantine
  bool asks_bound = false;              // without one a time is suspect
  BandwidthState* bandwidth = nullptr;  // of this machine; null = not followed
  std::uint64_t input_seed = 0;         // the worker sees this one
  std::uint64_t check_seed = 0;         // and never this one
  // Executions of the loop whose outputs are compared with the first one.
  int checked_executions = 15;
};

// Executions to compare in each of `rounds` rounds: a fault of every tenth execution is missed with
// 0.9^44 < 1 % by all of them.
int checked_executions(int rounds);

// Runs one trial on a crew whose group is the case's. The row has no round, seed or plugin hash
// yet. The crew may be dead afterwards: ask it.
Measurement run_trial(Crew& crew, const KernelCase& kernel_case, const TrialOptions& options,
                      GateHistory& history);

}  // namespace halmark
