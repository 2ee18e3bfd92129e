// Executes a plan: the one search loop over measured kernels, every row in the journal.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/tune_plan.hpp"
#include "journal/store.hpp"
#include "latency/measured_source.hpp"
#include "measure/campaign/campaign.hpp"

namespace halmark::cli {

struct TuneRun {
  std::int64_t id = 0;
  bool is_resumed = false;
  double measuring_s = 0;
  std::vector<Measurement> rows;
  std::vector<Evaluation> evaluations;
  std::vector<std::size_t> front;  // into evaluations; per phase, by latency
  std::vector<Validation> validations;
  std::vector<std::string> notes;
};

// Rows by case key and round.
using RowIndex = std::map<std::pair<std::string, int>, Measurement>;

struct TuneContext {
  const GlobalOptions* global = nullptr;
  const LocalMachine* machine = nullptr;
  const FoundPlugin* plugin = nullptr;
  Store* store = nullptr;
  std::string command;  // reproducer line
};

// The journal's run of a plan, begun or found, and a source that measures into it what it lacks.
class MeasuringRun {
 public:
  // Both must outlive it.
  MeasuringRun(const TunePlan& plan, const TuneContext& context);
  MeasuringRun(const MeasuringRun&) = delete;
  MeasuringRun& operator=(const MeasuringRun&) = delete;

  std::int64_t id() const { return run_.id; }
  MeasuredSource& source() { return source_; }
  const MeasuredSource& source() const { return source_; }
  // Composed from what is known, without measuring; kept for the front.
  const Evaluation& evaluate(const Configuration& configuration);
  // Judges how sure each place on the front is, and measures further rounds where that is in doubt.
  // A run whose evaluations are stored is not judged again.
  void settle();
  // The front of what was evaluated; new evaluations are stored unless interrupted.
  TuneRun finish();

 private:
  std::vector<Measurement> measure(std::span<const KernelCase> cases);
  std::vector<Measurement> measure(std::span<const KernelCase> cases, CampaignOptions options);
  Evaluation composed(const Configuration& configuration) const;

  const TunePlan& plan_;
  const TuneContext& context_;
  TuneRun run_;
  RowIndex stored_;
  MeasuredSource source_;
};

// Begins a run or finds the one that this plan began here, measures what it lacks, composes.
TuneRun measure_plan(const TunePlan& plan, const TuneContext& context);

// How the kernels of a plan are measured, each row stored in `run`; no progress, no resuming.
CampaignOptions campaign_options(const TunePlan& plan, const TuneContext& context,
                                 std::int64_t run);
BoundingDevice bounding(const LocalMachine& machine);

}  // namespace halmark::cli
