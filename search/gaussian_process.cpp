#include "search/gaussian_process.hpp"

#include <algorithm>
#include <cmath>

namespace halmark {
namespace {

constexpr double noise_floor = 1e-6;
// Priors (Hvarfner et al. 2024: lengths grow with the root of the dimension).
constexpr double length_spread = 1.7320508075688772, noise_centre = -8, noise_spread = 2;
constexpr double log_length_low = -3, log_length_high = 6, log_noise_low = -13, log_noise_high = -1;

double length_centre(std::size_t width) {
  return 1.4142135623730951 + 0.5 * std::log(static_cast<double>(width));
}

double matern(double squared) {
  const double r = std::sqrt(5 * squared);
  return (1 + r + r * r / 3) * std::exp(-r);
}

struct Standard {
  double centre = 0, scale = 1;
};

Standard standard_of(std::span<const double> targets) {
  Standard out;
  for (const double y : targets) out.centre += y;
  out.centre /= static_cast<double>(targets.size());
  double squares = 0;
  for (const double y : targets) squares += (y - out.centre) * (y - out.centre);
  out.scale = std::sqrt(squares / static_cast<double>(targets.size()));
  if (!(out.scale > 0)) out.scale = 1;
  return out;
}

}  // namespace

Features::Features(const Space& space) : space_(space) {
  for (const SearchDomain& domain : space.domains()) is_category_.push_back(!domain.has_order());
}

void Features::append(const Point& point, std::vector<double>& rows) const {
  for (std::size_t d = 0; d < point.size(); ++d) {
    rows.push_back(point[d] == absent ? -1
                   : is_category_[d]  ? point[d]
                                      : space_.domains()[d].unit(point[d]));
  }
}

GaussianProcess::GaussianProcess(const Features& features) : features_(features) {
  parameters_.assign(features.width() + 1, std::log(0.5) + 0.5 * std::log(features.width()));
  parameters_.back() = noise_centre;
}

double GaussianProcess::likelihood(std::span<const double> rows, std::span<const double> targets,
                                   std::span<const double> parameters,
                                   std::vector<double>* gradient) const {
  const std::size_t n = targets.size(), width = features_.width();
  const double noise = std::exp(parameters[width]) + noise_floor;
  std::vector<double> inverse_squares(width);
  for (std::size_t d = 0; d < width; ++d) inverse_squares[d] = std::exp(-2 * parameters[d]);
  std::vector<double> slope(n * n);
  CholeskyFactor factor;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> row(i + 1);
    for (std::size_t j = 0; j < i; ++j) {
      double squared = 0;
      for (std::size_t d = 0; d < width; ++d) {
        squared +=
            features_.squared(d, rows[i * width + d], rows[j * width + d]) * inverse_squares[d];
      }
      const double r = std::sqrt(5 * squared), e = std::exp(-r);
      row[j] = (1 + r + r * r / 3) * e;
      slope[i * n + j] = 5.0 / 3 * (1 + r) * e;
    }
    row[i] = 1 + noise;
    if (!factor.append(std::move(row))) return -1e300;
  }
  const Standard standard = standard_of(targets);
  std::vector<double> a(n);
  double log_determinant = 0;
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = (targets[i] - standard.centre) / standard.scale;
    log_determinant += 2 * std::log(factor.diagonal(i));
  }
  const std::vector<double> y = a;
  factor.solve_lower(a.data());
  factor.solve_upper(a.data());
  const double fit = dot(y.data(), a.data(), n);
  const double count = static_cast<double>(n), variance = std::max(fit / count, 1e-12);
  double out = -0.5 * (count * std::log(variance) + log_determinant);
  const double centre = length_centre(width);
  for (std::size_t d = 0; d < width; ++d) {
    out -= 0.5 * std::pow((parameters[d] - centre) / length_spread, 2);
  }
  out -= 0.5 * std::pow((parameters[width] - noise_centre) / noise_spread, 2);
  if (gradient == nullptr) return out;

  // K^-1 = L^-T L^-1; row c of `inverse` is column c of L^-1.
  std::vector<double> inverse(n * n, 0);
  for (std::size_t c = 0; c < n; ++c) {
    double* x = &inverse[c * n];
    x[c] = 1 / factor.diagonal(c);
    for (std::size_t i = c + 1; i < n; ++i) {
      x[i] = -dot(factor.row(i) + c, x + c, i - c) / factor.diagonal(i);
    }
  }
  gradient->assign(width + 1, 0);
  double trace_noise = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      // Both columns of L^-1 are zero above row i.
      const double w =
          a[i] * a[j] / variance - dot(&inverse[i * n + i], &inverse[j * n + i], n - i);
      if (i == j) {
        trace_noise += 0.5 * w;
        continue;
      }
      // d k / d log length = slope * squared_d / length^2; both triangles count.
      const double pull = w * slope[i * n + j];
      for (std::size_t d = 0; d < width; ++d) {
        (*gradient)[d] += pull * inverse_squares[d] *
                          features_.squared(d, rows[i * width + d], rows[j * width + d]);
      }
    }
  }
  for (std::size_t d = 0; d < width; ++d) {
    (*gradient)[d] -= (parameters[d] - centre) / (length_spread * length_spread);
  }
  (*gradient)[width] = trace_noise * std::exp(parameters[width]) -
                       (parameters[width] - noise_centre) / (noise_spread * noise_spread);
  return out;
}

void GaussianProcess::fit(std::span<const double> rows, std::span<const double> targets,
                          int steps) {
  const std::size_t width = features_.width();
  std::vector<double> at = parameters_, best = parameters_, gradient, previous(width + 1, 0);
  std::vector<double> step(width + 1, 0.3);
  double highest = -1e301;
  for (int s = 0; s < steps; ++s) {
    const double value = likelihood(rows, targets, at, &gradient);
    if (value <= -1e300) break;
    if (value > highest) {
      highest = value;
      best = at;
    }
    for (std::size_t p = 0; p <= width; ++p) {
      const double turn = gradient[p] * previous[p];
      if (turn > 0) step[p] = std::min(step[p] * 1.3, 1.5);
      if (turn < 0) step[p] = std::max(step[p] * 0.5, 1e-3);
      previous[p] = turn < 0 ? 0 : gradient[p];
      if (turn < 0) continue;
      const bool is_noise = p == width;
      at[p] = std::clamp(at[p] + (gradient[p] > 0   ? step[p]
                                  : gradient[p] < 0 ? -step[p]
                                                    : 0),
                         is_noise ? log_noise_low : log_length_low,
                         is_noise ? log_noise_high : log_length_high);
    }
  }
  parameters_ = best;
}

void GaussianProcess::clear() {
  rows_.clear();
  factor_.clear();
  targets_.clear();
  ones_.clear();
  target_squares_ = cross_ = one_squares_ = 0;
  noise_ = std::exp(parameters_.back()) + noise_floor;
  inverse_squares_.resize(features_.width());
  for (std::size_t d = 0; d < features_.width(); ++d) {
    inverse_squares_[d] = std::exp(-2 * parameters_[d]);
  }
}

double GaussianProcess::correlation(const double* a, const double* b) const {
  double squared = 0;
  for (std::size_t d = 0; d < inverse_squares_.size(); ++d) {
    squared += features_.squared(d, a[d], b[d]) * inverse_squares_[d];
  }
  return matern(squared);
}

void GaussianProcess::add(std::span<const double> row, double target) {
  const std::size_t n = factor_.size(), width = features_.width();
  std::vector<double> k(n + 1);
  for (std::size_t i = 0; i < n; ++i) k[i] = correlation(row.data(), &rows_[i * width]);
  k[n] = 1 + noise_;
  while (!factor_.append(k)) k[n] *= 1.01;
  rows_.insert(rows_.end(), row.begin(), row.end());
  const double* last = factor_.row(n);
  targets_.push_back((target - dot(last, targets_.data(), n)) / last[n]);
  ones_.push_back((1 - dot(last, ones_.data(), n)) / last[n]);
  target_squares_ += targets_[n] * targets_[n];
  cross_ += targets_[n] * ones_[n];
  one_squares_ += ones_[n] * ones_[n];
}

GaussianProcess::Prediction GaussianProcess::predict(std::span<const double> row,
                                                     Probe& probe) const {
  const std::size_t n = factor_.size(), width = features_.width();
  for (std::size_t i = probe.solved.size(); i < n; ++i) {
    const double* lower = factor_.row(i);
    const double x =
        (correlation(row.data(), &rows_[i * width]) - dot(probe.solved.data(), lower, i)) /
        lower[i];
    probe.solved.push_back(x);
    probe.targets += x * targets_[i];
    probe.ones += x * ones_[i];
    probe.squares += x * x;
  }
  if (n == 0) return {};
  const double centre = cross_ / one_squares_;
  const double variance =
      std::max((target_squares_ - centre * cross_) / static_cast<double>(n), 1e-300);
  return {.mean = centre + probe.targets - centre * probe.ones,
          .deviation = std::sqrt(variance * std::max(1 - probe.squares, 1e-12))};
}

GaussianProcess::Prediction GaussianProcess::predict(std::span<const double> row) const {
  Probe probe;
  probe.solved.reserve(factor_.size());
  return predict(row, probe);
}

}  // namespace halmark
