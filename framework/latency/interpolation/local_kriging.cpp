#include "latency/interpolation/local_kriging.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace halmark {

namespace {

// More neighbours change the predictions of kernel tables by less than their own noise.
constexpr std::size_t neighbours_max = 32;

// Matern 3/2: once differentiable, as times are between the steps of a tile.
double correlation(double squared_distance) {
  const double r = std::sqrt(3 * squared_distance);
  return (1 + r) * std::exp(-r);
}

// Lower triangle of a symmetric positive definite matrix, in place.
class Cholesky {
 public:
  explicit Cholesky(std::size_t n) : n_(n), a_(n * n) {}
  double& at(std::size_t i, std::size_t j) { return a_[i * n_ + j]; }

  void factor() {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = at(i, j);
        for (std::size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
        at(i, j) = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / at(j, j);
      }
    }
  }
  // L^-1 v.
  std::vector<double> forward(std::vector<double> v) {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < i; ++k) v[i] -= at(i, k) * v[k];
      v[i] /= at(i, i);
    }
    return v;
  }

 private:
  std::size_t n_;
  std::vector<double> a_;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

LocalKriging::LocalKriging(std::vector<Point> points, Reach reach)
    : points_(std::move(points)), reach_(reach) {
  dimensions_ = points_.empty() ? 0 : points_.front().at.size();
  low_.assign(dimensions_, std::numeric_limits<double>::infinity());
  high_.assign(dimensions_, -std::numeric_limits<double>::infinity());
  order_.resize(points_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return points_[i].at.front(); });
  for (const std::size_t index : order_) {
    const std::vector<double>& at = points_[index].at;
    if (at.size() != dimensions_) throw std::logic_error("points of different dimensions");
    first_.push_back(at.front() / reach_.first);
    for (std::size_t d = 0; d < dimensions_; ++d) {
      coordinates_.push_back(at[d] / reach_of(d));
      low_[d] = std::min(low_[d], at[d]);
      high_[d] = std::max(high_[d], at[d]);
    }
  }
}

// `b` in order of the first coordinate. Beyond `limit` any larger figure will do.
double LocalKriging::squared_distance(std::span<const double> a, std::size_t b,
                                      double limit) const {
  double sum = 0;
  const double* other = coordinates_.data() + b * dimensions_;
  for (std::size_t d = 0; d < dimensions_ && sum <= limit; ++d) {
    const double step = a[d] - other[d];
    sum += step * step;
  }
  return sum;
}

// Outwards from the place along the first coordinate, until that alone is too far.
std::vector<LocalKriging::Neighbour> LocalKriging::neighbours(std::span<const double> place,
                                                              const LeftOut& left_out) const {
  std::vector<Neighbour> heap;
  const auto here = std::ranges::lower_bound(first_, place.front()) - first_.begin();
  std::size_t up = static_cast<std::size_t>(here), down = up;
  double farthest = std::numeric_limits<double>::infinity();
  const double nearest = left_out.nearer_than * left_out.nearer_than;
  const auto consider = [&](std::size_t i) {
    const std::size_t index = order_[i];
    if (left_out.point == index || left_out.shape == points_[index].shape) return;
    const double squared = squared_distance(place, i, farthest);
    if (squared >= farthest || squared < nearest) return;
    heap.push_back({squared, i});
    std::ranges::push_heap(heap, {}, &Neighbour::squared);
    if (heap.size() <= neighbours_max) return;
    std::ranges::pop_heap(heap, {}, &Neighbour::squared);
    heap.pop_back();
    farthest = heap.front().squared;
  };
  const double here_at = place.front();
  while (up < first_.size() || down > 0) {
    const double above =
        up < first_.size() ? first_[up] - here_at : std::numeric_limits<double>::infinity();
    const double below =
        down > 0 ? here_at - first_[down - 1] : std::numeric_limits<double>::infinity();
    const double step = std::min(above, below);
    if (step * step >= farthest) break;
    consider(above <= below ? up++ : --down);
  }
  return heap;
}

std::optional<LocalKriging::Prediction> LocalKriging::at(std::span<const double> asked,
                                                         const LeftOut& left_out) const {
  std::vector<double> place(asked.begin(), asked.end());
  for (std::size_t d = 0; d < dimensions_; ++d) place[d] /= reach_of(d);
  const double nugget = reach_.nugget;
  const std::vector<Neighbour> near = neighbours(place, left_out);
  const std::size_t n = near.size();
  if (n < 2) return std::nullopt;
  Cholesky covariance(n);
  std::vector<double> values(n), to_place(n), ones(n, 1.0);
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = points_[order_[near[i].index]].value;
    to_place[i] = correlation(near[i].squared);
    nearest = std::min(nearest, near[i].squared);
    const std::span<const double> at(coordinates_.data() + near[i].index * dimensions_,
                                     dimensions_);
    for (std::size_t j = 0; j < i; ++j) {
      covariance.at(i, j) =
          correlation(squared_distance(at, near[j].index, std::numeric_limits<double>::infinity()));
    }
    covariance.at(i, i) = 1 + nugget;
  }
  covariance.factor();
  const std::vector<double> y = covariance.forward(values), c = covariance.forward(to_place),
                            one = covariance.forward(ones);
  const double ones_ones = dot(one, one), c_ones = dot(c, one);
  const double mean = dot(one, y) / ones_ones;
  double scatter = 0;
  for (std::size_t i = 0; i < n; ++i) scatter += std::pow(y[i] - mean * one[i], 2);
  // Neighbours that agree to the last digit still leave doubt.
  scatter = std::max(scatter / static_cast<double>(n - 1), 1e-8);
  const double share = 1 + nugget - dot(c, c) + (1 - c_ones) * (1 - c_ones) / ones_ones;
  return Prediction{.value = mean + dot(c, y) - mean * c_ones,
                    .deviation = std::sqrt(std::max(share, nugget) * scatter),
                    .distance = std::sqrt(nearest)};
}

}  // namespace halmark
