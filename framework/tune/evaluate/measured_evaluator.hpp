// Steps whose kernels are measured here: the journal's run of a plan, and a source that measures
// into it what it lacks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "journal/run_identity.hpp"
#include "latency/chain.hpp"
#include "latency/measured_source.hpp"
#include "measure/campaign/campaign.hpp"
#include "tune/evaluate/evaluator.hpp"
#include "tune/evaluate/kernel_chooser.hpp"
#include "tune/evaluate/kernel_measurer.hpp"
#include "tune/evaluate/measure_kernels.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::tune {

// What nights need from rooms that this one does not know.
struct NightContext {
  std::string date;           // that the run is of, 2026-11-22; "" = today
  std::string builds_folder;  // where builds are kept; "" = none is
  using Order =
      std::function<std::vector<KernelCase>(std::span<const KernelCase>, std::int64_t run)>;
  // Of the kernels of a night before this run: which come first. Empty: the order of the plan.
  Order order;
  // Of those that this run has measured: what is farthest from the nights before comes first.
  Order moved_first;
  // Of these: those that no pair of builds before this run has decided. Empty: all are open.
  Order undecided;
};

class Steering;

// What measuring needs from the program that it runs in.
struct MeasureContext {
  std::string plugin_path, plugin_hash;
  BackendPlugins plugins = {};  // of a sweep whose shards lie on named devices: all of them
  Store* store = nullptr;
  std::string command;                     // that makes the run again
  std::vector<std::string> machine_lines;  // kept with the run
  WorkerLimits worker_limits;
  bool starts_new_run = false;      // also where this plan has a run here
  Steering* steering = nullptr;     // of who proposes instead of a sampler
  KernelMeasurer* fleet = nullptr;  // who measures instead of this machine
  std::optional<NodeJob> job = {};  // whose nodes the plan's collectives lie on
  NightContext night;               // of a sweep with [nightly]
  std::stop_token stop;
  // Called as campaigns go on; may be empty.
  std::function<void(const CampaignProgress&)> progress;
  // Told a line of what a part of a search cost and decided, when it has; may be empty.
  std::function<void(const std::string&)> tell = {};
};

class MeasuredEvaluator : public Evaluator {
 public:
  // Begins a run of the plan or finds the one that it began here. All must outlive it.
  MeasuredEvaluator(const TunePlan& plan, Composers& composers, const MeasureContext& context,
                    KernelChooser& chooser);
  MeasuredEvaluator(const MeasuredEvaluator&) = delete;
  MeasuredEvaluator& operator=(const MeasuredEvaluator&) = delete;

  std::vector<Evaluation> evaluate(std::span<const Configuration> configurations) override;

  // From what is known, without measuring.
  Evaluation composed(const Configuration& configuration);
  // From the first to the last row that was measured here of the configuration's kernels; nothing
  // where an earlier process measured all of them.
  std::optional<TrialTime> measured_when(const Configuration& configuration);
  // One campaign over these cases: `rounds` rounds, numbered from `first`, until then.
  std::vector<Measurement> measure_rounds(std::span<const KernelCase> cases, int first, int rounds,
                                          SteadyClock::time_point until);

  MeasuredSource& source() { return source_; }
  const MeasuredSource& source() const { return source_; }
  Composers& composers() { return composers_; }
  const TunePlan& plan() const { return plan_; }
  const MeasureContext& context() const { return context_; }
  std::int64_t run() const { return run_; }
  bool is_resumed() const { return is_resumed_; }
  // Rows that the run had before.
  std::size_t kept_rows() const { return stored_.size(); }
  // Of its rows, those that were measured now.
  std::size_t new_rows() const { return new_rows_; }
  // What rows are judged by, and what was seen of it; null where the target has no measured peaks.
  const RunPeaks* peaks() const { return peaks_ ? &*peaks_ : nullptr; }
  std::span<const Measurement> rows() const { return rows_; }
  // Gives back the memory that workers shared from campaign to campaign.
  void drop_arenas() { arenas_.clear(); }
  double measured_s() const;  // wall time of its rows
  double kept_s() const;      // of those that the run had before
  bool is_interrupted() const { return context_.stop.stop_requested(); }

 private:
  CampaignOptions campaign_options();
  std::vector<Measurement> run_campaign(std::span<const KernelCase> cases, CampaignOptions options);
  void begin_run();
  void store_peaks();
  void store_peaks(const RunPeaks& peaks, const Target& of, bool is_named);
  bool is_of_this_build(const Measurement& row) const;
  int revision_of_named() const;
  void note_time(const Measurement& m);
  Composer::Lookup lookup(const Composer& composer) const;
  void explain_missing(const Composer& composer, const Composer::Lookup& known,
                       Evaluation& e) const;

  const TunePlan& plan_;
  Composers& composers_;
  const MeasureContext& context_;
  KernelChooser& chooser_;
  std::optional<RunPeaks> peaks_;
  std::map<std::string, RunPeaks> peaks_of_named_;   // by device
  int stored_revision_ = 0, bounding_revision_ = 0;  // of the peaks
  std::int64_t run_ = 0;
  bool is_resumed_ = false;
  std::size_t new_rows_ = 0;
  std::map<std::pair<std::string, int>, Measurement> stored_;  // by case key and round
  std::map<std::string, TrialTime> kernel_times_;  // by case key, of rows of this process
  std::vector<Measurement> rows_;
  Hangs hangs_;
  std::vector<SharedMemory> arenas_;
  MeasuredSource source_;
  LatencyChain with_fabric_;  // the same and the target's fabric; empty where it has none
};

}  // namespace halmark::tune
