// What an evaluator found out about a trial, and the change of its row that it becomes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "framework/study/constraint_form.hpp"
#include "search/sampler.hpp"
#include "study/values.hpp"

namespace halmark {

struct StudyVerdict {
  int trial = 0;
  TrialOutcome outcome = TrialOutcome::complete;  // complete, infeasible or failed
  std::vector<double> values = {};      // in the person's sign; may be there when infeasible
  std::vector<double> violations = {};  // per constraint, > 0 = broken by so much
  std::string reason = {};
};

// Complete, pruned (infeasible without values) or failed, with reason and constraints as Optuna's
// samplers read them.
TrialChange outcome_change(const StudyVerdict& verdict, std::int64_t id,
                           const ConstraintForm& constraints);

}  // namespace halmark
