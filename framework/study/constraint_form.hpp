// How the trials of a study state constraints. Optuna's GPSampler refuses a study whose complete
// trials do not all have equally many, so what is added has the ones that the study has: the names
// of Optuna 5 (`constraints:NAME`), the list of Optuna 4 (`constraints`), or none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/values.hpp"

namespace halmark {

class ConstraintForm {
 public:
  // `is_constrained`: a study without complete trials gets a constraint of each, the total amount.
  explicit ConstraintForm(bool is_constrained = false) : is_constrained_(is_constrained) {}

  // Of a trial as it is stored, or about to be.
  void learn(TrialState state, const Attributes& system);

  // Whether a complete trial can say that it breaks a constraint.
  bool is_stated() const { return !names_.empty() || list_size() > 0; }
  // Of a trial that breaks constraints by `total` (0 = none). Whose they are is not known: each of
  // the study's has an equal part, so that samplers that add them see the total. Nothing where the
  // study states none: as soon as one trial has some, Optuna takes those without for infeasible.
  Attributes stated(double total) const;

 private:
  std::size_t list_size() const { return list_.value_or(is_constrained_ && !is_plain_ ? 1 : 0); }

  bool is_constrained_;
  bool is_plain_ = false;           // a complete trial has none
  std::vector<std::string> names_;  // whole keys, in the order of the trial
  std::optional<std::size_t> list_;
};

}  // namespace halmark
