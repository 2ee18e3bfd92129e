#include "search/surrogate/gaussian_process.hpp"

#include <algorithm>
#include <cmath>

namespace halmark {
namespace {

constexpr double noise_floor = 1e-6;
// Added to what an observation is worth by itself, where rounding makes a matrix lose its rank.
constexpr double jitter_first = 1e-6, jitter_max = 0.1;
constexpr double worst_likelihood = -1e300;
// Priors, of logarithms (lengths grow with the root of the dimension: Hvarfner et al. 2024), and of
// the logit of the share of what parameters do on their own: most of it, until the data object.
constexpr double length_centre = 0.7, length_spread = 1;
constexpr double noise_centre = -8, noise_spread = 2;
constexpr double share_centre = 2, share_spread = 1;

struct Bounds {
  double low, high;
};
constexpr Bounds length_bounds{-3, 6}, noise_bounds{-13, -1}, share_bounds{-5, 6};
// Tried for all parameters at once, times the root of the dimension.
constexpr double common_lengths[] = {0.5, 1, 2, 4};

double log_length_of(double length, std::size_t width) {
  return std::log(length) + 0.5 * std::log(static_cast<double>(width));
}

std::vector<double> start_of(std::size_t width, double length) {
  std::vector<double> out(width + 2, log_length_of(length, width));
  out[width] = noise_centre;
  out[width + 1] = share_centre;
  return out;
}

// What one parameter does on its own: a rational quadratic of the curvature that Matern 5/2 has at
// zero, without a root and an exponential for each parameter of each pair.
double alone(double squared) {
  const double u = 1 + 5.0 / 12 * squared;
  return 1 / (u * u);
}

double alone_slope(double squared) {
  const double u = 1 + 5.0 / 12 * squared;
  return 5.0 / 3 * squared / (u * u * u);
}

double share_of(double parameter) { return 1 / (1 + std::exp(-parameter)); }

struct Parts {
  double joint, alone;  // correlation: of all parameters together, the mean of each on its own
  double slope;         // of `joint` by the logarithm of a length is this times its own distance
};

Parts parts(const Features& features, const std::vector<double>& inverse_squares, const double* a,
            const double* b) {
  const double width = static_cast<double>(inverse_squares.size());
  double squared = 0, sum = 0;
  for (std::size_t d = 0; d < inverse_squares.size(); ++d) {
    const double s = features.squared(d, a[d], b[d]) * inverse_squares[d];
    squared += s;
    sum += alone(width * s);
  }
  const double r = std::sqrt(5 * squared), e = std::exp(-r);
  return {.joint = (1 + r + r * r / 3) * e, .alone = sum / width, .slope = 5.0 / 3 * (1 + r) * e};
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
  parameters_ = start_of(features.width(), common_lengths[0]);
}

double GaussianProcess::likelihood(std::span<const double> rows, std::span<const double> targets,
                                   std::span<const double> parameters,
                                   std::vector<double>* gradient) const {
  const std::size_t n = targets.size(), width = features_.width();
  const double noise = std::exp(parameters[width]) + noise_floor;
  const double share = share_of(parameters[width + 1]);
  std::vector<double> inverse_squares(width);
  for (std::size_t d = 0; d < width; ++d) inverse_squares[d] = std::exp(-2 * parameters[d]);
  // Of each pair: the slope of the joint part, and what the share adds.
  std::vector<double> slope(n * n), excess(n * n);
  CholeskyFactor factor;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> row(i + 1);
    for (std::size_t j = 0; j < i; ++j) {
      const Parts k = parts(features_, inverse_squares, &rows[i * width], &rows[j * width]);
      row[j] = k.joint + share * (k.alone - k.joint);
      slope[i * n + j] = (1 - share) * k.slope;
      excess[i * n + j] = k.alone - k.joint;
    }
    row[i] = 1 + noise;
    if (!factor.append(std::move(row))) return worst_likelihood;
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
  const double fit = inner_product(y.data(), a.data(), n);
  const double count = static_cast<double>(n), variance = std::max(fit / count, 1e-12);
  double out = -0.5 * (count * std::log(variance) + log_determinant);
  const double centre = length_centre + log_length_of(1, width);
  for (std::size_t d = 0; d < width; ++d) {
    out -= 0.5 * std::pow((parameters[d] - centre) / length_spread, 2);
  }
  out -= 0.5 * std::pow((parameters[width] - noise_centre) / noise_spread, 2);
  out -= 0.5 * std::pow((parameters[width + 1] - share_centre) / share_spread, 2);
  if (gradient == nullptr) return out;

  // K^-1 = L^-T L^-1; row c of `inverse` is column c of L^-1.
  std::vector<double> inverse(n * n, 0);
  for (std::size_t c = 0; c < n; ++c) {
    double* x = &inverse[c * n];
    x[c] = 1 / factor.diagonal(c);
    for (std::size_t i = c + 1; i < n; ++i) {
      x[i] = -inner_product(factor.row(i) + c, x + c, i - c) / factor.diagonal(i);
    }
  }
  gradient->assign(width + 2, 0);
  double trace_noise = 0, trace_share = 0;
  const double count_d = static_cast<double>(width), each = share / count_d;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      // Both columns of L^-1 are zero above row i.
      const double w =
          a[i] * a[j] / variance - inner_product(&inverse[i * n + i], &inverse[j * n + i], n - i);
      if (i == j) {
        trace_noise += 0.5 * w;
        continue;
      }
      // d k / d log length; both triangles count.
      trace_share += w * excess[i * n + j];
      for (std::size_t d = 0; d < width; ++d) {
        const double s =
            inverse_squares[d] * features_.squared(d, rows[i * width + d], rows[j * width + d]);
        (*gradient)[d] += w * (slope[i * n + j] * s + each * alone_slope(count_d * s));
      }
    }
  }
  for (std::size_t d = 0; d < width; ++d) {
    (*gradient)[d] -= (parameters[d] - centre) / (length_spread * length_spread);
  }
  (*gradient)[width] = trace_noise * std::exp(parameters[width]) -
                       (parameters[width] - noise_centre) / (noise_spread * noise_spread);
  (*gradient)[width + 1] = trace_share * share * (1 - share) -
                           (parameters[width + 1] - share_centre) / (share_spread * share_spread);
  return out;
}

double GaussianProcess::climb(std::span<const double> rows, std::span<const double> targets,
                              int steps, std::vector<double>& at) const {
  const std::size_t width = features_.width();
  std::vector<double> best = at, gradient, previous(at.size(), 0), step(at.size(), 0.3);
  double highest = worst_likelihood;
  for (int s = 0; s < steps; ++s) {
    const double value = likelihood(rows, targets, at, &gradient);
    if (value <= worst_likelihood) break;
    if (value > highest) {
      highest = value;
      best = at;
    }
    for (std::size_t p = 0; p < at.size(); ++p) {
      const double turn = gradient[p] * previous[p];
      if (turn > 0) step[p] = std::min(step[p] * 1.3, 1.5);
      if (turn < 0) step[p] = std::max(step[p] * 0.5, 1e-3);
      previous[p] = turn < 0 ? 0 : gradient[p];
      if (turn < 0) continue;
      const Bounds& bounds = p < width ? length_bounds : p == width ? noise_bounds : share_bounds;
      const double move = gradient[p] > 0 ? step[p] : gradient[p] < 0 ? -step[p] : 0;
      at[p] = std::clamp(at[p] + move, bounds.low, bounds.high);
    }
  }
  at = best;
  return highest;
}

std::vector<double> GaussianProcess::common_start(std::span<const double> rows,
                                                  std::span<const double> targets) const {
  std::vector<double> best = start_of(features_.width(), common_lengths[0]);
  double highest = worst_likelihood;
  for (const double length : common_lengths) {
    std::vector<double> at = start_of(features_.width(), length);
    const double value = likelihood(rows, targets, at, nullptr);
    if (value <= highest) continue;
    highest = value;
    best = std::move(at);
  }
  return best;
}

void GaussianProcess::fit(std::span<const double> rows, std::span<const double> targets, int steps,
                          int fresh_steps) {
  const double warm = climb(rows, targets, steps, parameters_);
  if (fresh_steps == 0) return;
  std::vector<double> other = common_start(rows, targets);
  if (climb(rows, targets, fresh_steps, other) > warm) parameters_ = std::move(other);
}

void GaussianProcess::clear() {
  rows_.clear();
  factor_.clear();
  targets_.clear();
  ones_.clear();
  target_squares_ = cross_ = one_squares_ = 0;
  noise_ = std::exp(parameters_[features_.width()]) + noise_floor;
  share_ = share_of(parameters_[features_.width() + 1]);
  inverse_squares_.resize(features_.width());
  for (std::size_t d = 0; d < features_.width(); ++d) {
    inverse_squares_[d] = std::exp(-2 * parameters_[d]);
  }
}

double GaussianProcess::correlation(const double* a, const double* b) const {
  const Parts k = parts(features_, inverse_squares_, a, b);
  return k.joint + share_ * (k.alone - k.joint);
}

bool GaussianProcess::add(std::span<const double> row, double target) {
  const std::size_t n = factor_.size(), width = features_.width();
  std::vector<double> k(n + 1);
  for (std::size_t i = 0; i < n; ++i) k[i] = correlation(row.data(), &rows_[i * width]);
  k[n] = 1 + noise_;
  double jitter = jitter_first;
  while (!factor_.append(k)) {
    if (jitter > jitter_max) return false;
    k[n] = 1 + noise_ + jitter;
    jitter *= 10;
  }
  rows_.insert(rows_.end(), row.begin(), row.end());
  const double* last = factor_.row(n);
  targets_.push_back((target - inner_product(last, targets_.data(), n)) / last[n]);
  ones_.push_back((1 - inner_product(last, ones_.data(), n)) / last[n]);
  target_squares_ += targets_[n] * targets_[n];
  cross_ += targets_[n] * ones_[n];
  one_squares_ += ones_[n] * ones_[n];
  return true;
}

GaussianProcess::Prediction GaussianProcess::predict(std::span<const double> row,
                                                     Probe& probe) const {
  const std::size_t n = factor_.size(), width = features_.width();
  for (std::size_t i = probe.solved.size(); i < n; ++i) {
    const double* lower = factor_.row(i);
    const double x = (correlation(row.data(), &rows_[i * width]) -
                      inner_product(probe.solved.data(), lower, i)) /
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
