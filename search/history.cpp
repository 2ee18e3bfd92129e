#include "search/history.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark {

std::size_t History::add_pending(Point point) {
  const std::size_t number = trials_.size();
  numbers_.emplace(space_.identity(point), as_uint32(number));
  trials_.push_back({.point = std::move(point)});
  return number;
}

void History::check(const Told& told) const {
  const auto wrong = [](const char* what) { throw Error(ExitCode::error, what); };
  if (!space_.contains(told.point)) wrong("a sampler was told of a point outside of its space");
  for (const double x : told.objectives) {
    if (std::isnan(x)) wrong("an objective is not a number: tell the trial as failed");
  }
  for (const double x : told.violations) {
    if (std::isnan(x)) wrong("a violation is not a number: tell the trial as failed");
  }
  if (told.outcome != TrialOutcome::complete) return;
  if (told.objectives.empty()) wrong("a complete trial has no objectives");
  if (objectives_ != 0 && told.objectives.size() != objectives_) {
    wrong("the number of objectives changed within a study");
  }
}

std::size_t History::tell(const Told& told) {
  check(told);
  const auto* it = find_value(numbers_, space_.identity(told.point));
  const bool is_known = it != nullptr;
  if (is_known && trials_[*it].outcome != TrialOutcome::pending) {
    throw Error(ExitCode::error, "a trial was told twice");
  }
  const std::size_t number = is_known ? *it : add_pending(told.point);
  Trial& trial = trials_[number];
  trial.outcome = told.outcome;
  finished_ += told.outcome != TrialOutcome::pending ? 1 : 0;
  trial.objectives = told.objectives;
  for (const double x : told.violations) trial.violation += std::max(x, 0.0);
  if (told.outcome == TrialOutcome::infeasible && trial.violation == 0) trial.violation = 1;
  if (told.outcome == TrialOutcome::complete) objectives_ = told.objectives.size();
  return number;
}

}  // namespace halmark
