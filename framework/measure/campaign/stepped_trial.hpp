// The steps of one trial, for those that take turns with another one: run_trial takes each once.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "measure/campaign/shard_sampling.hpp"
#include "measure/campaign/trial.hpp"
#include "measure/campaign/trial_gate.hpp"

namespace halmark {

// begin, sample as often as wanted, finish. A step that gives false has ended the trial: the row
// says why, and the later steps do nothing. Refers to crew, options and history.
class SteppedTrial {
 public:
  SteppedTrial(Crew& crew, const KernelCase& kernel_case, const TrialOptions& options,
               GateHistory& history);
  ~SteppedTrial();  // drops what is staged
  SteppedTrial(const SteppedTrial&) = delete;
  SteppedTrial& operator=(const SteppedTrial&) = delete;

  bool begin();  // stages; the first outputs are right
  // The samples become those of the row, in the place of earlier ones. What was kept meanwhile is
  // compared with the first outputs.
  bool sample();
  Measurement finish();  // compares slots behind the loop, drops, judges
  const Measurement& row() const { return row_; }

 private:
  bool guarded(const std::function<bool()>& step);
  void drop();
  bool stage();
  std::optional<int> witness() const;
  void describe();
  protocol::SampleRule rule() const;
  BandwidthState::Reading probe_bandwidth(double beside_s);
  double expected_s() const;
  bool take_samples();
  protocol::OutputChecks output_checks() const;
  void apply(ShardSeries series);
  void judge();

  Crew& crew_;
  const TrialOptions& options_;
  StagedTrial staged_;
  bool is_staged_ = false, has_ended_ = false;
  std::vector<std::vector<int>> written_sets_;  // per shard
  std::vector<std::vector<KeptSeries>> kept_;   // per shard
  Measurement row_;
  TrialGate gate_;
};

}  // namespace halmark
