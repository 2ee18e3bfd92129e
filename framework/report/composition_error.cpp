#include <algorithm>
#include <cmath>

#include "core/numeric/statistics.hpp"
#include "report/report.hpp"

namespace halmark {
namespace {

constexpr std::size_t points_min = 5;

// Passed the validity gate: invalid rows would blame the Composer for the machine. Suspect ones
// count and carry their label.
bool is_comparable(const Validation& row) {
  return has_latency(row.status) && row.measured_ns > 0 && row.predicted_ns > 0 &&
         std::isfinite(row.measured_ns) && std::isfinite(row.predicted_ns);
}

}  // namespace

CompositionError composition_error(const std::vector<Validation>& rows) {
  std::vector<double> errors;
  for (const Validation& row : rows) {
    if (is_comparable(row)) errors.push_back(std::abs(row.relative_error()));
  }
  CompositionError out{.points = static_cast<int>(errors.size())};
  if (errors.size() < points_min) return out;
  out.median = median(errors);
  out.worst = *std::ranges::max_element(errors);
  return out;
}

}  // namespace halmark
