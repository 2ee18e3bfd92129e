// Executes a plan: the one search loop over measured kernels, every row in the journal.
#pragma once

#include <vector>

#include "cli/tune_plan.hpp"
#include "journal/store.hpp"
#include "measure/campaign.hpp"
#include "measure/measured_source.hpp"

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

struct TuneContext {
  const GlobalOptions* global = nullptr;
  const LocalMachine* machine = nullptr;
  const FoundPlugin* plugin = nullptr;
  Store* store = nullptr;
  std::string command;  // reproducer line
};

// Begins a run or finds the one that this plan began here, measures what it lacks, composes.
TuneRun measure_plan(const TunePlan& plan, const TuneContext& context);

// How the kernels of a plan are measured, each row stored in `run`; no progress, no resuming.
CampaignOptions campaign_options(const TunePlan& plan, const TuneContext& context,
                                 std::int64_t run);
BoundingDevice bounding(const LocalMachine& machine);

}  // namespace halmark::cli
