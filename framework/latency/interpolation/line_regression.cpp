#include "latency/interpolation/line_regression.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace halmark {
namespace {

// As scripts/forecast_thinning.py has them: errors are stated for these.
constexpr std::size_t lines_per_axis = 3;
constexpr std::size_t line_points_min = 3;  // a row from anywhere says nothing of other sizes
constexpr double softening = 0.02, ridge = 0.02;

double log_size(double size) { return std::log2(size + 1); }

double squared_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

// The first of x with a x = (1, 0, 0, ...): weights of the rows in the constant. `a` is symmetric
// and positive definite, of n x n.
std::vector<double> first_column_of_inverse(std::vector<double> a, std::size_t n) {
  std::vector<double> x(n);
  x.front() = 1;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t row = i + 1; row < n; ++row) {
      const double factor = a[row * n + i] / a[i * n + i];
      for (std::size_t k = i; k < n; ++k) a[row * n + k] -= factor * a[i * n + k];
      x[row] -= factor * x[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= a[i * n + k] * x[k];
    x[i] /= a[i * n + i];
  }
  return x;
}

}  // namespace

LineRegression::LineRegression(std::span<const Point> points) {
  for (const Point& p : points) {
    const auto index = static_cast<std::size_t>(p.line);
    if (index >= lines_.size()) lines_.resize(index + 1);
    Line& line = lines_[index];
    if (line.points.empty()) line.at.assign(p.at.begin(), p.at.end());
    line.points.push_back({log_size(p.size), p.share});
  }
  for (Line& line : lines_) std::ranges::sort(line.points, {}, &Known::size);
}

bool LineRegression::Line::reaches(double size_asked) const {
  return points.size() >= line_points_min ||
         (points.size() > 1 && points.front().size <= size_asked &&
          size_asked <= points.back().size) ||
         points.front().size == size_asked;
}

// Beyond its ends a line goes on as it ends.
double LineRegression::along(const Line& line, double size) {
  const auto above = std::ranges::lower_bound(line.points, size, {}, &Known::size);
  if (above == line.points.end()) return line.points.back().share;
  if (above == line.points.begin() || above->size == size) return above->share;
  const auto below = std::prev(above);
  const double weight = (size - below->size) / (above->size - below->size);
  return below->share + weight * (above->share - below->share);
}

std::optional<LineRegression::Prediction> LineRegression::at(std::optional<std::int32_t> line,
                                                             std::span<const double> at,
                                                             double size) const {
  const double where = log_size(size);
  if (line) {
    const Line& known = lines_[static_cast<std::size_t>(*line)];
    if (known.reaches(where)) return Prediction{along(known, where), 0};
  }
  struct Near {
    double squared;
    const Line* line;
  };
  std::vector<Near> near;
  for (const Line& known : lines_) {
    if (known.reaches(where)) near.push_back({squared_distance(at, known.at), &known});
  }
  if (near.empty()) return std::nullopt;
  const std::size_t count = std::min(near.size(), lines_per_axis * (at.size() + 1));
  std::ranges::nth_element(near, near.begin() + static_cast<std::ptrdiff_t>(count - 1), {},
                           &Near::squared);
  near.resize(count);
  const std::size_t n = at.size() + 1;
  std::vector<double> normal(n * n), terms(n), weights;
  double sum = 0;
  const auto set_terms = [&](const Line& known) {
    terms[0] = 1;
    for (std::size_t d = 0; d < at.size(); ++d) terms[d + 1] = known.at[d] - at[d];
  };
  for (const Near& of : near) {
    weights.push_back(1 / std::pow(of.squared + softening, 1.5));
    sum += weights.back();
    set_terms(*of.line);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) normal[i * n + j] += weights.back() * terms[i] * terms[j];
    }
  }
  for (std::size_t i = 1; i < n; ++i) normal[i * n + i] += ridge * sum;
  const std::vector<double> x = first_column_of_inverse(std::move(normal), n);
  Prediction out{0, std::sqrt(std::ranges::min(near, {}, &Near::squared).squared)};
  for (std::size_t i = 0; i < near.size(); ++i) {
    set_terms(*near[i].line);
    out.share += weights[i] * std::inner_product(terms.begin(), terms.end(), x.begin(), 0.0) *
                 along(*near[i].line, where);
  }
  return out;
}

}  // namespace halmark
