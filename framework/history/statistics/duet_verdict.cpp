#include "history/statistics/duet_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/numeric/student_t.hpp"
#include "core/numeric/trimmed_mean.hpp"
#include "core/text/text.hpp"
#include "history/comparison.hpp"

namespace halmark::history {
namespace {

constexpr std::size_t pairs_min = 3;
constexpr double called_p = 0.01;

// Whether the pairs that did not choose this kernel moved the same way, by half of it at least.
bool is_confirmed(const Duet& duet, double size) {
  if (std::cmp_less_equal(duet.log_ratios.size(), duet.choosing_pairs)) return false;
  const std::vector<double> others(duet.log_ratios.begin() + duet.choosing_pairs,
                                   duet.log_ratios.end());
  return trimmed_mean(others).value / size >= 0.5;
}

}  // namespace

DuetVerdict judge_duet(const Duet& duet, double floor) {
  DuetVerdict out{.pairs = static_cast<int>(duet.log_ratios.size())};
  if (duet.status != Status::ok) {
    out.reason = std::string(status_name(duet.status)) + ": " + duet.reason;
    if (duet.is_new_at_fault && is_broken(duet.status)) out.change = Change::failed;
    return out;
  }
  if (duet.log_ratios.size() < pairs_min) {
    out.reason =
        std::to_string(out.pairs) + " pairs, and " + std::to_string(pairs_min) + " are needed";
    return out;
  }
  const TrimmedMean moved = trimmed_mean(duet.log_ratios);
  const double size = moved.value, limit = std::log1p(floor), freedom = moved.freedom;
  const double pairs = out.pairs;
  const double error = std::max(moved.error, spread_min / std::sqrt(pairs));
  const double half = t_critical(duet_same_p, freedom) * error;
  out.ratio = std::exp(size);
  out.interval = {std::exp(size - half), std::exp(size + half)};
  out.p = t_two_sided_p(size / error, freedom);
  out.change = Change::undecided;
  const bool is_clear = std::abs(size) > t_critical(called_p, freedom) * error;
  if (is_within_floor(out.interval, floor)) {
    out.change = Change::same;
  } else if (std::abs(size) >= limit && is_clear && is_confirmed(duet, size)) {
    out.change = size > 0 ? Change::slower : Change::faster;
  } else {
    out.reason = "its " + std::to_string(out.pairs) + " pairs scatter by " +
                 number_text(100 * error * std::sqrt(pairs), 2) + " %: more pairs decide";
  }
  return out;
}

}  // namespace halmark::history
