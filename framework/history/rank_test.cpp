#include "history/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace halmark::history {

double rank_sum_p(std::span<const double> a, std::span<const double> b) {
  struct Value {
    double value;
    bool is_first;
  };
  std::vector<Value> all;
  for (const double value : a) all.push_back({value, true});
  for (const double value : b) all.push_back({value, false});
  std::ranges::sort(all, {}, &Value::value);
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  double sum = 0, ties = 0;  // of the ranks of `a`; of t^3 - t over groups of equal values
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    std::size_t first = 0;
    for (end = begin; end < all.size() && all[end].value == all[begin].value; ++end) {
      first += all[end].is_first ? 1 : 0;
    }
    const auto t = static_cast<double>(end - begin);
    sum += static_cast<double>(first) * (static_cast<double>(begin + end + 1) / 2);
    ties += t * t * t - t;
  }
  const double total = n + m;
  const double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
  if (!(variance > 0)) return 1;
  const double z = (sum - n * (total + 1) / 2) / std::sqrt(variance);
  return std::erfc(std::abs(z) / std::sqrt(2.0));
}

}  // namespace halmark::history
