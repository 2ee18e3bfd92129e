#include "latency/interpolation/line_interpolation.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/lists.hpp"

namespace halmark {

LineInterpolation::LineInterpolation(const std::vector<Point>& points) {
  points_.reserve(points.size());
  for (const auto i : indices(points)) {
    points_.push_back({points[i].line, points[i].size, points[i].ns, i});
  }
  std::ranges::sort(points_, {},
                    [](const Known& k) { return std::tuple(k.line, k.size, k.index); });
}

std::optional<LineInterpolation::Prediction> LineInterpolation::at(
    std::int32_t line, double size, std::optional<std::size_t> left_out) const {
  const auto order = [](const Known& a, const std::pair<std::int32_t, double>& b) {
    return std::pair(a.line, a.size) < b;
  };
  const auto here = std::lower_bound(points_.begin(), points_.end(), std::pair(line, size), order);
  auto above = here;
  while (above != points_.end() && above->line == line && above->index == left_out) ++above;
  if (above == points_.end() || above->line != line) return std::nullopt;
  if (above->size == size) return Prediction{above->ns, 0};
  auto below = here;
  do {
    if (below == points_.begin()) return std::nullopt;
    --below;
  } while (below->line == line && below->index == left_out);
  if (below->line != line) return std::nullopt;
  const double share = (size - below->size) / (above->size - below->size);
  const double least = std::max(below->size, 1e-9);
  return Prediction{below->ns + share * (above->ns - below->ns), std::log2(above->size / least)};
}

}  // namespace halmark
