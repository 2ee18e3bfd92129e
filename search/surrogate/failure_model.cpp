#include "search/surrogate/failure_model.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"

namespace halmark {
namespace {

// Closeness falls by this factor per level of an order or per change of a category. Failures hang
// on few parameters at a time, so neighbours tell much and strangers little.
constexpr double per_step = 0.35;
constexpr double steps_max = 8;       // a continuum counts as so many levels
constexpr double prior_weight = 0.2;  // of the overall share of successes

}  // namespace

FailureModel::FailureModel(const Space& space) : space_(space), features_(space) {
  for (const SearchDomain& domain : space.domains()) {
    const std::uint64_t levels = domain.levels();
    steps_.push_back(levels == 0 ? steps_max : std::min(steps_max, as_double(levels) - 1));
  }
}

void FailureModel::learn(const Trial& trial) {
  const bool is_ok = trial.outcome == TrialOutcome::complete;
  features_.append(trial.point, rows_);
  is_ok_.push_back(is_ok);
  failures_ += is_ok ? 0 : 1;
}

double FailureModel::closeness(const double* a, const double* b) const {
  double steps = 0;
  for (const auto d : indices(steps_)) {
    const double squared = features_.squared(d, a[d], b[d]);
    if (squared == 0) continue;
    const bool is_step = !features_.is_category(d) && a[d] >= 0 && b[d] >= 0;
    steps += is_step ? std::sqrt(squared) * steps_[d] : 1;
  }
  return steps;
}

double FailureModel::success(const Point& point) const {
  if (failures_ == 0) return 1;
  std::vector<double> row;
  features_.append(point, row);
  const double all = as_double(is_ok_.size());
  const double share = (all - as_double(failures_) + 1) / (all + 2);
  double ok = prior_weight * share, total = prior_weight;
  const double decay = std::log(per_step);
  for (const auto i : indices(is_ok_)) {
    const double steps = closeness(row.data(), &rows_[i * steps_.size()]);
    if (steps > 6) continue;
    const double weight = std::exp(decay * steps);
    total += weight;
    if (is_ok_[i]) ok += weight;
  }
  return ok / total;
}

}  // namespace halmark
