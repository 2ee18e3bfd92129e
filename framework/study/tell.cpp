// Outcomes of a study: what is accepted, and the rows that it becomes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "framework/study/study.hpp"
#include "study/values_json.hpp"

namespace halmark {
namespace {

Error refused_trial(int number, const std::string& what) {
  return refused("trial " + std::to_string(number) + ": " + what);
}

}  // namespace

void Study::check(const StudyVerdict& verdict, const std::set<int>& earlier) const {
  const int number = verdict.trial;
  if (number < 0 || as_size(number) >= trials_.size() || trials_[as_size(number)].id < 0) {
    throw refused_trial(number, "the study has no such trial");
  }
  if (trials_[as_size(number)].is_done) {
    throw refused_trial(number, "it was told already");
  }
  if (earlier.contains(number)) throw refused_trial(number, "it is told twice here");
  const bool needs_values = verdict.outcome == TrialOutcome::complete;
  if ((needs_values || !verdict.values.empty()) && verdict.values.size() != objectives_.size()) {
    throw refused_trial(number, std::to_string(verdict.values.size()) + " values; the study has " +
                                    std::to_string(objectives_.size()) + " objectives");
  }
  for (const double value : verdict.values) {
    if (std::isnan(value)) throw refused_trial(number, "a value is no number; tell it as failed");
  }
  for (const double violation : verdict.violations) {
    if (!std::isfinite(violation) || violation <= 0) {
      throw refused_trial(number, "a violation is an amount above 0");
    }
  }
}

TrialChange outcome_change(const StudyVerdict& verdict, std::int64_t id,
                           const ConstraintForm& constraints) {
  TrialChange out{.id = id};
  const std::string reason = dump_json(Json(verdict.reason));
  switch (verdict.outcome) {
    case TrialOutcome::failed:
    case TrialOutcome::pending:
      out.state = TrialState::fail;
      out.user = {{"halmark:failed", reason}};
      break;
    case TrialOutcome::complete:
      out.state = TrialState::complete;
      out.values = verdict.values;
      out.system = constraints.stated(0);
      break;
    case TrialOutcome::infeasible:
      // Without values it cannot be complete, and without constraints Optuna would take it for
      // feasible then; its samplers learn of a broken constraint from a pruned trial too.
      out.state = verdict.values.empty() || !constraints.is_stated() ? TrialState::pruned
                                                                     : TrialState::complete;
      out.values = verdict.values;
      out.user = {{"halmark:infeasible", reason},
                  {std::string(violations_attribute), dump_json(Json(verdict.violations))}};
      out.system = constraints.stated(
          std::accumulate(verdict.violations.begin(), verdict.violations.end(), 0.0));
      break;
  }
  return out;
}

void Study::tell(std::span<const StudyVerdict> given) {
  // A sampler hears of them in one order, however a person lists them.
  std::vector<StudyVerdict> verdicts(given.begin(), given.end());
  std::ranges::stable_sort(verdicts, {}, &StudyVerdict::trial);
  for (StudyVerdict& verdict : verdicts) {
    if (verdict.outcome == TrialOutcome::infeasible && verdict.violations.empty()) {
      verdict.violations = {1};  // broken, by nobody knows how much
    }
  }
  change([&](StudyTransaction& transaction) {
    catch_up(transaction);
    std::set<int> seen;
    std::vector<TrialChange> changes;
    for (const StudyVerdict& verdict : verdicts) {
      check(verdict, seen);
      seen.insert(verdict.trial);
      const std::int64_t id = trials_[as_size(verdict.trial)].id;
      const auto lease = transaction.leases({&id, 1});
      if (lease.empty() || lease.front().state != TrialState::running) {
        throw refused_trial(verdict.trial, "it is not running");
      }
      // A trial of an earlier process may be told here; one that was taken from this one may not.
      if (mine_.contains(verdict.trial) && lease.front().owner != worker_) {
        throw refused_trial(verdict.trial, "it was taken back after " +
                                               std::to_string(std::lround(settings_.lease_s)) +
                                               " s without a sign of life");
      }
      changes.push_back(outcome_change(verdict, id, constraints_));
      constraints_.learn(*changes.back().state, changes.back().system);
    }
    transaction.change(changes);
    std::vector<Told> news;
    for (const StudyVerdict& verdict : verdicts) {
      const int number = verdict.trial;
      const auto* own = find_value(mine_, number);
      const auto* other = find_value(pending_, number);
      std::optional<Point> point;
      if (own) point = *own;
      if (!own && other) point = other->point;
      Known& known = trials_[as_size(number)];
      known.is_done = true;
      cursor_.unfinished.erase(known.id);
      mine_.erase(number);
      pending_.erase(number);
      const auto holder = point ? holder_.find(space_.identity(*point)) : holder_.end();
      if (holder == holder_.end() || holder->second != number) continue;
      Told told{.point = *point,
                .outcome = verdict.outcome,
                .violations = verdict.violations,
                .reason = verdict.reason};
      for (const auto i : indices(verdict.values)) {
        told.objectives.push_back(objectives_[i].is_maximised ? -verdict.values[i]
                                                              : verdict.values[i]);
      }
      news.push_back(std::move(told));
    }
    sampler_->tell(news);
  });
}

}  // namespace halmark
