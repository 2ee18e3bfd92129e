// Measures many cases in interleaved rounds, one fresh worker per shard and round.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/measured/measurement.hpp"
#include "core/numeric/clock.hpp"
#include "host/nodes/node_group.hpp"
#include "host/process/run_memory.hpp"
#include "host/process/shared_memory.hpp"
#include "host/protocol.hpp"
#include "host/worker_client.hpp"
#include "measure/campaign/bandwidth_state.hpp"
#include "measure/campaign/case_group.hpp"
#include "measure/campaign/gate/validity.hpp"
#include "measure/campaign/losses.hpp"
#include "measure/campaign/run_peaks.hpp"
#include "measure/campaign/trial.hpp"

namespace halmark {

class Crew;
struct InStackOptions;

struct CampaignProgress {
  std::int64_t done = 0, total = 0;  // trials: cases x rounds
  std::int64_t resumed = 0;          // of done, taken from the journal
  std::int64_t failed = 0, invalid = 0;
  int round = 0;
  double elapsed_s = 0;
  std::optional<double> left_s;  // from the pace so far; nothing before the first trial
  std::string current;           // text of the case just finished
};

struct CampaignOptions {
  int rounds = 3;
  int first_round = 0;  // the rounds are numbered from here
  protocol::SampleRule rule;
  double wall_cap_s = 15;
  std::uint64_t seed = 0;
  ValidityThresholds thresholds;
  std::map<std::string, std::string> plugin_path_by_backend;
  std::map<std::string, std::string> plugin_hash_by_backend;
  std::optional<NodeJob> job;  // on whose nodes cases of devices as "0@2" are measured
  std::map<std::string, std::string> environment;
  Config open_options;
  std::string cache_dir;
  WorkerLimits limits;
  RunPeaks* peaks = nullptr;  // of this machine, for quarantine; null = none
  // By device ("cuda:0"), where several are measured on; those without an entry have none.
  std::map<std::string, RunPeaks*> peaks_by_device;
  bool asks_bound = false;     // a time that no peaks bound is suspect
  int retries_per_case = 3;    // of a disturbed trial, at the end of its round
  double retry_budget_s = 20;  // that all of them together may cost
  // Of the time that a round took before them, but a second at least: a restless machine is not to
  // make everything twice.
  double retry_share = 0.1;
  // Called between sample requests with each new row, never with a resumed one; the row is
  // committed there.
  std::function<void(const Measurement&)> sink;
  // Where cases in the mode in_stack stand; without it, and where it knows none, they are refused.
  StacksOf stacks_of;
  // Kept from campaign to campaign, so that a hang costs its limit once in all of them; null = of
  // this one.
  Hangs* hangs = nullptr;
  // Likewise: fresh pages cost up to 2.5 ms per MB, in each campaign of a sweep of many.
  std::vector<SharedMemory>* arenas = nullptr;
  // A stored row of this case and round: the trial is then not run again.
  std::function<std::optional<Measurement>(const KernelCase&, int round)> lookup;
  std::function<void(const CampaignProgress&)> progress;
  std::function<bool()> should_stop;  // asked between trials; what is open then has no row
};

// Rounds outside, groups of equal shards inside, cases of a group in a fresh random order. A case
// that hangs costs its limit once: it is not tried again, in this round or another, and where a
// device hangs while it is opened no further worker is started for it. Any other lost worker is
// replaced and its trial retried once; three losses in a row of one kernel on one device disable
// it, as a `refused` row for each case left. Every failure is a row. A case whose samples were
// disturbed goes to the end of its round, while the budget lasts; its best trial is the row.
class Campaign {
 public:
  explicit Campaign(CampaignOptions options);
  ~Campaign();
  // All rows, resumed ones included, in the order in which they came to be. Throws Error only for
  // what makes every trial impossible (no memory for an arena is not one of them).
  std::vector<Measurement> run(std::span<const KernelCase> cases);

 private:
  // A trial that may be had better later in the round.
  struct Disturbed {
    std::size_t index = 0;
    CaseGroup group;
    Measurement row;
    int tries = 0;
  };
  // A stack whose executions were mostly disturbed.
  struct DisturbedStack {
    GroupedCases open;
    std::vector<Measurement> rows;
    int tries = 0;
  };
  // Gives the cases that have no stored row; the others are finished.
  GroupedCases open_cases(const GroupedCases& grouped, std::span<const KernelCase> cases,
                          int round);
  void run_stack(const GroupedCases& grouped, std::span<const KernelCase> cases, int round,
                 std::uint64_t round_seed);
  double try_stacks_again(std::span<const KernelCase> cases, int round, std::uint64_t round_seed,
                          double given_s);
  std::vector<Measurement> measure_stack(const GroupedCases& open,
                                         std::span<const KernelCase> cases, int round,
                                         std::uint64_t seed);
  std::vector<Measurement> measure_staged(const GroupedCases& open,
                                          std::span<const KernelCase> asked, std::uint64_t seed);
  InStackOptions in_stack_options(std::size_t ranks, std::uint64_t seed);
  std::string why_not_staged(const std::string& backend, std::span<const KernelCase> asked) const;
  void run_group(const GroupedCases& grouped, std::span<const KernelCase> cases, int round,
                 std::uint64_t round_seed);
  // Gives the seconds that it cost, `given_s` at most.
  double try_again(std::span<const KernelCase> cases, int round, std::uint64_t round_seed,
                   double given_s);
  void end_crew();
  Measurement measure(const KernelCase& kernel_case, const CaseGroup& group, int round,
                      std::uint64_t seed);
  Measurement attempt(const KernelCase& kernel_case, const CaseGroup& group, std::uint64_t seed);
  bool ensure_crew(const CaseGroup& group, Measurement& row);
  void follow_bandwidth();
  std::vector<SharedMemory>& arenas() { return options_.arenas ? *options_.arenas : own_arenas_; }
  void prepare_arenas(std::span<const KernelCase> cases);
  std::optional<std::string> why_too_large(const KernelCase& kernel_case) const;
  std::string why_refused_here(const KernelCase& kernel_case) const;
  void finish(Measurement row, bool is_resumed);
  bool stopped() const;
  RunPeaks* peaks_of(const KernelCase& kernel_case) const;

  CampaignOptions options_;
  GateHistory history_;
  double retry_s_left_ = 0;
  std::deque<Disturbed> disturbed_;  // of this round
  std::deque<DisturbedStack> disturbed_stacks_;
  Losses losses_;
  RunMemory memory_;  // when the campaign began
  std::vector<SharedMemory> own_arenas_;
  std::optional<BandwidthState> bandwidth_;
  std::int64_t walk_bytes_ = 0;
  std::unique_ptr<Crew> crew_;
  CampaignProgress progress_;
  SteadyClock::time_point begin_;
  std::vector<Measurement> rows_;
};

}  // namespace halmark
