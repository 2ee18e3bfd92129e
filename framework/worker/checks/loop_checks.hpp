// What one sampling lets the parent check: outputs of drawn executions, of executions on inputs
// that changed, and what is there at once when `wait` returns.
#pragma once

#include <optional>
#include <vector>

#include "core/numeric/random.hpp"
#include "worker/checks/kept_outputs.hpp"
#include "worker/checks/overwritten_row.hpp"
#include "worker/checks/redrawn_inputs.hpp"
#include "worker/staging/staged_kernel.hpp"
#include "worker/timed_step.hpp"

namespace halmark::worker {

class LoopChecks : public BetweenSamples {
 public:
  // Longer intervals are executed as seldom as they can be.
  static constexpr double long_interval_ns = 2e6;

  // `expected_ns`: one interval. Where it is long, fewer executions are spent on checks.
  LoopChecks(DeviceContext& context, StagedKernel& kernel, const protocol::OutputChecks& wanted,
             double expected_ns);

  PluginError act(int first_set, std::int64_t repeat, int& next_set) override;
  PluginError prepare(int first_set, std::int64_t repeat) override;
  // When the last sample was taken, `series` from the first on.
  void end_loop(std::span<const TimedSample> series, std::vector<Signal>& signals);
  // Executions of its own so far, and how long they took: the device was as busy as in a sample.
  std::int64_t executions() const { return executions_; }
  double executing_ns() const { return executing_ns_; }
  // Behind the loop. Throws RequestFailed.
  void check_after_wait(std::int64_t repeat, std::vector<Signal>& signals);
  // What the parent is told.
  void add_to(protocol::Measured& measured);

 private:
  std::uint64_t draw() { return hash_u64(seed_, draws_++); }
  std::uint64_t below(std::uint64_t bound) { return uniform_below(draw(), bound); }
  bool holds_first_output(int set) const;
  bool settles() const { return settles_; }

  // Where the next execution is kept; nothing when it is not.
  std::optional<int> place();
  void keep_execution(int at, int first_set, std::int64_t repeat, int& next_set);
  std::optional<int> written_set(int first_set, std::int64_t repeat);
  void execute(int first_set, std::int64_t repeat, int& next_set);
  void check_row(std::int64_t repeat, int& next_set);
  void check_redrawn(int& next_set);
  void keep_row(const OverwriteRow& overwritten, int set, bool at_once);
  void keep_the_rest(std::int64_t repeat);
  void check_at_once(std::int64_t repeat);
  void run_poisoned(int first_set, std::int64_t count);
  void keep_lines(int first_set, std::int64_t count);
  void note_kept_state(std::vector<Signal>& signals);
  void watch_idle(std::vector<Signal>& signals);
  void time_reads(int set, std::vector<Signal>& signals);

  DeviceContext& context_;
  StagedKernel& kernel_;
  ArgumentRing& ring_;
  protocol::OutputChecks wanted_;
  double expected_ns_;
  KeptOutputs kept_;
  RedrawnInputs redrawn_;
  std::vector<protocol::OverwrittenRow> rows_;
  std::uint64_t seed_, draws_ = 0;
  bool settles_ = false, is_changeable_ = false;
  int changed_rows_ = 0;
  std::int64_t seen_ = 0, next_row_at_ = 0, executions_ = 0;
  double executing_ns_ = 0;
  std::int64_t comparable_ = 0;  // of those seen: on the staged inputs
};

}  // namespace halmark::worker
