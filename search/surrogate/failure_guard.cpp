#include "search/surrogate/failure_guard.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"

namespace halmark {
namespace {

constexpr std::size_t places_max = 128;
// Of what uniform draws would lose, wherever they are lost.
constexpr double part_of_uniform = 0.4;
// Of all trials at the border: at most, and of the square of the chance that one of them is worth
// it, so that a few in a row that are not end it.
constexpr double border_share_max = 0.15, border_share_earned = 2;
constexpr double best_share = 0.05;  // of the complete trials, which beat one among the best
// Of the share that fails: what a proposal may risk at most when there is no failure to spend, and
// by what a failure or a success then changes it.
constexpr double caution_max = 0.05, caution_min = 1e-9;
constexpr double after_failure = 0.2, after_success = 1.1;
constexpr double nearest = 1e-12;  // squared distance of what is told apart
constexpr std::uint64_t purpose_places = 0x6a4d;

}  // namespace

FailureGuard::FailureGuard(const Space& space, std::uint64_t seed)
    : space_(space),
      seed_(seed),
      features_(space),
      caution_(caution_max),
      power_(as_int(std::clamp<std::size_t>(features_.width() / 2 + 1, 2, 6))) {}

double FailureGuard::weight(const double* a, const double* b) const {
  double squared = nearest;
  for (const auto d : indices(features_.width())) squared += features_.squared(d, a[d], b[d]);
  const double inverse = 1 / squared;
  double out = inverse;
  for (int k = 1; k < power_; ++k) out *= inverse;
  return out;
}

void FailureGuard::add_places() {
  std::uint64_t attempts = 16 * places_max;
  for (std::uint64_t i = 0; i < places_max && attempts > 0; ++i) {
    const auto p = space_.draw(hash_combine(hash_combine(seed_, purpose_places), i), attempts);
    if (!p) continue;
    features_.append(*p, places_.emplace_back().row);
  }
}

void FailureGuard::learn(const Trial& finished) {
  const bool is_failed = finished.outcome != TrialOutcome::complete;
  if (is_awake() && risk(finished.point) > caution_max) {
    ++border_trials_;
    border_gains_ += !is_failed && is_among_the_best(finished) ? 1 : 0;
  }
  if (!is_failed) complete_.push_back(finished.objectives);
  if (is_awake() && is_spent()) {
    caution_ = std::clamp(caution_ * (is_failed ? after_failure : after_success), caution_min,
                          caution_max);
  }
  features_.append(finished.point, rows_);
  is_failed_.push_back(is_failed);
  ++finished_;
  failures_ += is_failed ? 1 : 0;
  if (is_failed && failures_ == 1) add_places();
  for (Place& place : places_) risk(place.row, place.probe);
}

double FailureGuard::risk(std::span<const double> row, Probe& probe) const {
  for (; probe.seen < finished_; ++probe.seen) {
    const double w = weight(row.data(), &rows_[probe.seen * features_.width()]);
    probe.all += w;
    if (is_failed_[probe.seen]) probe.failed += w;
  }
  return probe.all > 0 ? probe.failed / probe.all : 0;
}

double FailureGuard::risk(const Point& point) const {
  std::vector<double> row;
  features_.append(point, row);
  Probe probe;
  return risk(row, probe);
}

double FailureGuard::share() const {
  if (places_.empty()) return 0;
  double sum = 0;
  for (const Place& place : places_) {
    if (place.probe.all > 0) sum += place.probe.failed / place.probe.all;
  }
  return sum / as_double(places_.size());
}

bool FailureGuard::is_among_the_best(const Trial& complete) const {
  const auto better = std::ranges::count_if(
      complete_, [&](const Objectives& y) { return dominates(y, complete.objectives); });
  return as_double(better) <= best_share * as_double(complete_.size());
}

// The mean of a Beta distribution over whether a trial at the border is worth it, uniform at first.
double FailureGuard::border_share() const {
  const double worth = (1 + as_double(border_gains_)) / (2 + as_double(border_trials_));
  return std::min(border_share_max, border_share_earned * worth * worth);
}

bool FailureGuard::is_spent() const {
  const auto trials = as_double(finished_ + 1);
  return as_double(failures_ + 1) > part_of_uniform * share() * trials &&
         as_double(border_trials_ + 1) > border_share() * trials;
}

double FailureGuard::risk_max() const { return is_spent() ? caution_ * share() : 1; }

}  // namespace halmark
