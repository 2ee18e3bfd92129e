// The truth check: front points are run whole in the workers and confronted with their estimates.
#pragma once

#include <functional>

#include "measure/campaign/stack/stack_run.hpp"
#include "tune/search/measure.hpp"

namespace halmark::tune {

// Confronts the estimate of a graph with a run of its whole stack. Never throws for a failed run:
// the status and reason say what happened.
Validation confront(const OperatorGraph& graph, const Estimate& estimate,
                    const StackRunResult& run);

struct ValidateOptions {
  std::int64_t points = 0;  // 0 = all front points
  double budget_s = 1e9;
  // Called after each point; may be empty.
  std::function<void(std::size_t done, std::size_t total, const std::string& key)> progress;
};

// Runs points of the front, evenly spread over it, and stores what came of them. What the budget
// does not cover is named in the notes of the run.
void validate_front(MeasuredEvaluator& evaluator, const ValidateOptions& options, TuneRun& run);

}  // namespace halmark::tune
