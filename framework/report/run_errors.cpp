// Invalid rows would blame the sum for the machine; suspect ones count and carry their label.
#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"
#include "report/report.hpp"

namespace halmark {
namespace {

// Each point rests on several pairs already.
constexpr std::size_t points_min = 3;

template <class ErrorOf>
ErrorOverPoints over_points(const std::vector<Validation>& rows, ErrorOf error_of) {
  std::vector<double> errors;
  ErrorOverPoints out;
  for (const Validation& row : rows) {
    const std::optional<double> error = error_of(row);
    if (error && std::isfinite(*error)) {
      errors.push_back(std::abs(*error));
    } else {
      ++out.left_out;
    }
  }
  out.points = as_int(errors.size());
  if (errors.size() < points_min) return out;
  out.median = median(errors);
  out.worst = *std::ranges::max_element(errors);
  return out;
}

IntervalCoverage::Runs coverage_of(const std::vector<Validation::IntervalAtRun>& intervals) {
  IntervalCoverage::Runs out{.runs = as_int(intervals.size())};
  std::vector<double> half_widths;
  for (const Validation::IntervalAtRun& i : intervals) {
    out.inside += i.is_inside ? 1 : 0;
    half_widths.push_back((i.ns.high - i.ns.low) / (i.ns.high + i.ns.low));
  }
  if (!half_widths.empty()) out.half_width = median(half_widths);
  return out;
}

}  // namespace

IntervalCoverage interval_coverage(const std::vector<Validation>& rows) {
  IntervalCoverage out;
  std::vector<Validation::IntervalAtRun> named, scaled;
  double state = 0;
  for (const Validation& row : rows) {
    const auto interval = row.interval_at_run();
    if (!interval) continue;
    (interval->is_scaled ? scaled : named).push_back(*interval);
    const double now = row.state()->bytes_per_s;
    if (std::abs(now - state) <= same_state * state) continue;
    state = now;
    ++out.states;
  }
  out.named = coverage_of(named);
  out.scaled = coverage_of(scaled);
  return out;
}

ErrorOverPoints composition_errors(const std::vector<Validation>& rows) {
  return over_points(rows, [](const Validation& v) { return v.composition_error(); });
}

ErrorOverPoints prediction_errors(const std::vector<Validation>& rows) {
  return over_points(rows, [](const Validation& v) { return v.prediction_error(); });
}

}  // namespace halmark
