// Executes a plan: the one search loop over measured kernels, every row in the journal.
#pragma once

#include <vector>

#include "cli/truth_check.hpp"
#include "cli/tune_plan.hpp"
#include "journal/store.hpp"
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

// Validates `points` of the front (0 = all) within the budget; stored ones are not run again.
void validate_front(const TunePlan& plan, const TuneContext& context, TuneRun& run,
                    std::int64_t points, double budget_s);

}  // namespace halmark::cli
