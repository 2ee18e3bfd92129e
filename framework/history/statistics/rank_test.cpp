#include "history/statistics/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/numeric/cast.hpp"

namespace halmark::history {

namespace {

// Beyond, the normal approximation is as good.
constexpr double exact_max = 3000;  // product of the sizes

// Chance of a Mann-Whitney U as far from its mean as `u` or farther, from the counts of all ways to
// interleave n and m distinct values.
double exact_p(std::size_t n, std::size_t m, double u) {
  const std::size_t most = n * m;
  // ways[k][u]: of choosing k of the values seen so far with a sum of places u.
  std::vector<std::vector<double>> ways(n + 1, std::vector<double>(most + 1, 0));
  ways[0][0] = 1;
  for (std::size_t place = 0; place < n + m; ++place) {
    for (std::size_t k = std::min(n, place + 1); k > 0; --k) {
      const std::size_t below = place + 1 - k;  // values of the other side before this one
      if (below > m) continue;
      for (std::size_t sum = most + 1; sum-- > below;) {
        ways[k][sum] += ways[k - 1][sum - below];
      }
    }
  }
  double all = 0, far = 0;
  const double middle = as_double(most) / 2;
  for (std::size_t sum = 0; sum <= most; ++sum) {
    all += ways[n][sum];
    const double distance = std::abs(as_double(sum) - middle);
    if (distance >= std::abs(u - middle) - 1e-9) far += ways[n][sum];
  }
  return far / all;
}

}  // namespace

double rank_sum_p(std::span<const double> a, std::span<const double> b) {
  struct Value {
    double value;
    bool is_first;
  };
  std::vector<Value> all;
  for (const double value : a) all.push_back({value, true});
  for (const double value : b) all.push_back({value, false});
  std::ranges::sort(all, {}, &Value::value);
  const auto n = as_double(a.size()), m = as_double(b.size());
  double sum = 0, ties = 0;  // of the ranks of `a`; of t^3 - t over groups of equal values
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    std::size_t first = 0;
    for (end = begin; end < all.size() && all[end].value == all[begin].value; ++end) {
      first += all[end].is_first ? 1 : 0;
    }
    const auto t = as_double(end - begin);
    sum += as_double(first) * (as_double(begin + end + 1) / 2);
    ties += t * t * t - t;
  }
  const double total = n + m;
  const double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
  if (!(variance > 0)) return 1;
  if (ties == 0 && n * m <= exact_max) {
    return exact_p(a.size(), b.size(), sum - n * (n + 1) / 2);
  }
  const double z = (sum - n * (total + 1) / 2) / std::sqrt(variance);
  return std::erfc(std::abs(z) / std::sqrt(2.0));
}

}  // namespace halmark::history
