#include "history/statistics/false_discovery.hpp"

#include <algorithm>
#include <numeric>

#include "core/numeric/cast.hpp"

namespace halmark::history {

std::vector<double> false_discovery_q(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> out(p_values.size());
  double least = 1;
  for (std::size_t rank = order.size(); rank-- > 0;) {
    const double q = p_values[order[rank]] * as_double(order.size()) / as_double(rank + 1);
    least = std::min(least, q);
    out[order[rank]] = least;
  }
  return out;
}

}  // namespace halmark::history
