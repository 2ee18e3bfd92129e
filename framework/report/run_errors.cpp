// Invalid rows would blame the sum for the machine; suspect ones count and carry their label.
#include <algorithm>
#include <cmath>

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
  out.points = static_cast<int>(errors.size());
  if (errors.size() < points_min) return out;
  out.median = median(errors);
  out.worst = *std::ranges::max_element(errors);
  return out;
}

}  // namespace

ErrorOverPoints composition_errors(const std::vector<Validation>& rows) {
  return over_points(rows, [](const Validation& v) { return v.composition_error(); });
}

ErrorOverPoints prediction_errors(const std::vector<Validation>& rows) {
  return over_points(rows, [](const Validation& v) { return v.prediction_error(); });
}

}  // namespace halmark
