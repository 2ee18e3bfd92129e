#include "search/surrogate/gaussian_process.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "search/surrogate/gaussian_kernel.hpp"

namespace halmark {
namespace {

// Added to what an observation is worth by itself, where rounding makes a matrix lose its rank.
constexpr double jitter_first = 1e-6, jitter_max = 0.1;

struct Bounds {
  double low, high;
};
constexpr Bounds length_bounds{-3, 6}, noise_bounds{-13, -1}, share_bounds{-5, 6};
// Tried for all parameters at once, times the root of the dimension.
constexpr double common_lengths[] = {0.5, 1, 2, 4};

std::vector<double> start_of(std::size_t width, double length) {
  std::vector<double> out(width + 2, gaussian::log_length_of(length, width));
  out[width] = gaussian::noise_centre;
  out[width + 1] = gaussian::share_centre;
  return out;
}

}  // namespace

Features::Features(const Space& space) : space_(space) {
  for (const SearchDomain& domain : space.domains()) is_category_.push_back(!domain.has_order());
}

void Features::append(const Point& point, std::vector<double>& rows) const {
  for (const auto d : indices(point)) {
    rows.push_back(point[d] == absent ? -1
                   : is_category_[d]  ? point[d]
                                      : space_.domains()[d].unit(point[d]));
  }
}

GaussianProcess::GaussianProcess(const Features& features) : features_(features) {
  parameters_ = start_of(features.width(), common_lengths[0]);
}

double GaussianProcess::climb(std::span<const double> rows, std::span<const double> targets,
                              int steps, std::vector<double>& at) const {
  const std::size_t width = features_.width();
  std::vector<double> best = at, gradient, previous(at.size(), 0), step(at.size(), 0.3);
  double highest = gaussian::worst_likelihood;
  for (int s = 0; s < steps; ++s) {
    const double value = likelihood(rows, targets, at, &gradient);
    if (value <= gaussian::worst_likelihood) break;
    if (value > highest) {
      highest = value;
      best = at;
    }
    for (const auto p : indices(at)) {
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
  double highest = gaussian::worst_likelihood;
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
  noise_ = std::exp(parameters_[features_.width()]) + gaussian::noise_floor;
  share_ = gaussian::share_of(parameters_[features_.width() + 1]);
  inverse_squares_.resize(features_.width());
  for (const auto d : indices(features_.width())) {
    inverse_squares_[d] = std::exp(-2 * parameters_[d]);
  }
}

double GaussianProcess::correlation(const double* a, const double* b) const {
  const gaussian::Parts k = gaussian::parts(features_, inverse_squares_, a, b);
  return k.joint + share_ * (k.alone - k.joint);
}

bool GaussianProcess::add(std::span<const double> row, double target) {
  const std::size_t n = factor_.size(), width = features_.width();
  std::vector<double> k(n + 1);
  for (const auto i : indices(n)) k[i] = correlation(row.data(), &rows_[i * width]);
  k[n] = 1 + noise_;
  double jitter = jitter_first;
  while (!factor_.append(k)) {
    if (jitter > jitter_max) return false;
    k[n] = 1 + noise_ + jitter;
    jitter *= 10;
  }
  append_all(rows_, row);
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
  const double variance = std::max((target_squares_ - centre * cross_) / as_double(n), 1e-300);
  return {.mean = centre + probe.targets - centre * probe.ones,
          .deviation = std::sqrt(variance * std::max(1 - probe.squares, 1e-12))};
}

GaussianProcess::Prediction GaussianProcess::predict(std::span<const double> row) const {
  Probe probe;
  probe.solved.reserve(factor_.size());
  return predict(row, probe);
}

}  // namespace halmark
