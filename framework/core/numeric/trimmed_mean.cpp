#include "core/numeric/trimmed_mean.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/numeric/cast.hpp"
#include "core/numeric/statistics.hpp"

namespace halmark {

TrimmedMean trimmed_mean(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t cut = sorted.size() / 5, kept = sorted.size() - 2 * cut;
  const std::span<const double> inner = std::span(sorted).subspan(cut, kept);
  const double lowest = inner.front(), highest = inner.back();
  TrimmedMean out{.value = mean(inner), .freedom = as_double(kept) - 1};
  // Winsorized: what was left out counts as the last that was kept.
  for (double& value : sorted) value = std::clamp(value, lowest, highest);
  const double centre = mean(sorted);
  double squares = 0;
  for (const double value : sorted) squares += (value - centre) * (value - centre);
  const auto h = as_double(kept);
  out.error =
      kept < 2 ? std::numeric_limits<double>::infinity() : std::sqrt(squares / (h * (h - 1)));
  return out;
}

}  // namespace halmark
