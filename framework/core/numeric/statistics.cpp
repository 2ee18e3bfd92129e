#include "core/numeric/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/lists.hpp"

namespace halmark {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> out(values.begin(), values.end());
  std::ranges::sort(out);
  return out;
}

double quantile_sorted(const std::vector<double>& v, double q) {
  const double position = q * as_double(v.size() - 1);
  const auto below = as_size(position);
  const std::size_t above = std::min(below + 1, v.size() - 1);
  return v[below] + (v[above] - v[below]) * (position - as_double(below));
}

// Largest r (0-based from each end) with P(order statistics r .. n-1-r cover the median) >= 0.95,
// from the binomial(n, 1/2) tail; -1 when even min..max does not reach it (n < 6).
int binomial_rank(std::size_t n) {
  double probability = std::pow(0.5, as_double(n));  // P(X = 0)
  double tail = 0;
  int rank = -1;
  for (const auto k : indices(n / 2)) {
    tail += probability;
    if (2 * tail > 0.05) break;
    rank = as_int(k);
    probability *= as_double(n - k) / as_double(k + 1);
  }
  return rank;
}

}  // namespace

double quantile(std::span<const double> values, double q) {
  return quantile_sorted(sorted(values), q);
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / as_double(values.size());
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

MedianInterval median_interval(std::span<const double> values) {
  const std::vector<double> v = sorted(values);
  const auto n = v.size();
  if (n < 50) {
    const int rank = binomial_rank(n);
    if (rank < 0) return {{v.front(), v.back()}, false};
    const auto r = as_size(rank);
    return {{v[r], v[n - 1 - r]}, true};
  }
  const double half = as_double(n) / 2;
  const double spread = 0.98 * std::sqrt(as_double(n));
  const auto low = as_size(std::max(1.0, std::floor(half - spread)));
  const auto high = as_size(std::ceil(half + 1 + spread));
  return {{v[low - 1], v[std::min(high, n) - 1]}, true};
}

double relative_iqr(std::span<const double> values) {
  const std::vector<double> v = sorted(values);
  const double mid = quantile_sorted(v, 0.5);
  return mid == 0 ? 0 : (quantile_sorted(v, 0.75) - quantile_sorted(v, 0.25)) / mid;
}

}  // namespace halmark
