#include "latency/interpolation/local_kriging.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>

#include "core/lists.hpp"

namespace halmark {

namespace {

// More neighbours change the predictions of kernel tables by less than their own noise.
constexpr std::size_t neighbours_max = 32;

// Matern 3/2: once differentiable, as times are between the steps of a tile.
double correlation(double squared_distance) {
  const double r = std::sqrt(3 * squared_distance);
  return (1 + r) * std::exp(-r);
}

// Of a symmetric positive definite C with further columns V: L^T and L^-1 V of C = L L^T, in place.
// Row by row, so that compilers use vectors.
void eliminate(std::span<double> rows, std::size_t n, std::size_t width) {
  for (const auto k : indices(n)) {
    double* pivot = rows.data() + k * width;
    const double root = std::sqrt(std::max(pivot[k], 1e-12));
    for (std::size_t j = k; j < width; ++j) pivot[j] /= root;
    for (std::size_t i = k + 1; i < n; ++i) {
      double* row = rows.data() + i * width;
      const double share = pivot[i];
      for (std::size_t j = i; j < width; ++j) row[j] -= share * pivot[j];
    }
  }
}

constexpr std::size_t solved_max = 64;  // of one set of points

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
    for (const auto d : indices(dimensions_)) {
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
  heap.reserve(neighbours_max + 1);
  const auto here = std::ranges::lower_bound(first_, place.front()) - first_.begin();
  std::size_t up = as_size(here), down = up;
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

// L^T of the neighbours' correlations, row by row, with the columns L^-1 y and L^-1 1.
struct LocalKriging::Solved {
  std::vector<std::size_t> of;  // the neighbours
  std::vector<double> rows;
  double ones_ones = 0, mean = 0, scatter = 0;

  std::size_t width() const { return of.size() + 2; }
  const double* row(std::size_t i) const { return rows.data() + i * width(); }
  double value(std::size_t i) const { return row(i)[of.size()]; }
  double one(std::size_t i) const { return row(i)[of.size() + 1]; }
};

const LocalKriging::Solved& LocalKriging::solved(std::span<const Neighbour> near) const {
  std::vector<std::size_t> of;
  std::uint64_t hash = 0;
  for (const Neighbour& neighbour : near) {
    of.push_back(neighbour.index);
    hash = (hash ^ neighbour.index) * 0x9e3779b97f4a7c15u;
  }
  solved_.resize(solved_max);
  std::shared_ptr<const Solved>& known = solved_[hash >> 32U & (solved_max - 1)];
  if (known && known->of == of) return *known;
  const std::size_t n = of.size();
  Solved out{.of = std::move(of)};
  out.rows.resize(n * out.width());
  for (const auto i : indices(n)) {
    double* row = out.rows.data() + i * out.width();
    const double* at = coordinates_.data() + near[i].index * dimensions_;
    row[i] = 1 + reach_.nugget;
    for (std::size_t j = i + 1; j < n; ++j) {
      const double* other = coordinates_.data() + near[j].index * dimensions_;
      double squared = 0;
      for (const auto d : indices(dimensions_)) squared += (at[d] - other[d]) * (at[d] - other[d]);
      row[j] = correlation(squared);
    }
    row[n] = points_[order_[near[i].index]].value;
    row[n + 1] = 1;
  }
  eliminate(out.rows, n, out.width());
  double ones_y = 0;
  for (const auto i : indices(n)) {
    out.ones_ones += out.one(i) * out.one(i);
    ones_y += out.one(i) * out.value(i);
  }
  out.mean = ones_y / out.ones_ones;
  for (const auto i : indices(n)) {
    const double apart = out.value(i) - out.mean * out.one(i);
    out.scatter += apart * apart;
  }
  // Neighbours that agree to the last digit still leave doubt.
  out.scatter = std::max(out.scatter / as_double(n - 1), 1e-8);
  known = std::make_shared<const Solved>(std::move(out));
  return *known;
}

std::optional<LocalKriging::Prediction> LocalKriging::at(std::span<const double> asked,
                                                         const LeftOut& left_out) const {
  std::vector<double> place(asked.begin(), asked.end());
  for (const auto d : indices(dimensions_)) place[d] /= reach_of(d);
  std::vector<Neighbour> near = neighbours(place, left_out);
  const std::size_t n = near.size();
  if (n < 2) return std::nullopt;
  std::ranges::sort(near, {}, &Neighbour::index);
  const Solved& known = solved(near);
  std::array<double, neighbours_max> c;  // the correlations with the place, then L^-1 of them
  double nearest = std::numeric_limits<double>::infinity();
  for (const auto i : indices(n)) {
    c[i] = correlation(near[i].squared);
    nearest = std::min(nearest, near[i].squared);
  }
  double c_ones = 0, c_c = 0, c_y = 0;
  for (const auto i : indices(n)) {
    const double* row = known.row(i);
    c[i] /= row[i];
    for (std::size_t j = i + 1; j < n; ++j) c[j] -= c[i] * row[j];
    c_ones += c[i] * known.one(i);
    c_c += c[i] * c[i];
    c_y += c[i] * known.value(i);
  }
  const double nugget = reach_.nugget;
  const double share = 1 + nugget - c_c + (1 - c_ones) * (1 - c_ones) / known.ones_ones;
  return Prediction{.value = known.mean + c_y - known.mean * c_ones,
                    .deviation = std::sqrt(std::max(share, nugget) * known.scatter),
                    .distance = std::sqrt(nearest)};
}

}  // namespace halmark
