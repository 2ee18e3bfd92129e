// One trial from staging to verdict. Whatever happens ends in one row.
#include "measure/campaign/trial.hpp"

#include <algorithm>

#include "measure/campaign/stepped_trial.hpp"

namespace halmark {

int checked_executions(int rounds) {
  constexpr int checks_min = 44;
  return (checks_min + std::max(1, rounds) - 1) / std::max(1, rounds);
}

Measurement run_trial(Crew& crew, const KernelCase& kernel_case, const TrialOptions& options,
                      GateHistory& history) {
  SteppedTrial trial(crew, kernel_case, options, history);
  trial.begin();
  trial.sample();
  return trial.finish();
}

}  // namespace halmark
