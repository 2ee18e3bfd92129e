#include "search/pareto/nearest_rival.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"

namespace halmark {

double NearestRival::observations() const {
  const double difference = std::abs(std::log1p(behind));
  return difference > 0 ? std::pow(2 * deviation / difference, 2) : HUGE_VAL;
}

std::optional<NearestRival> nearest_rival(std::span<const std::vector<double>> draws,
                                          std::size_t chosen) {
  std::optional<NearestRival> out;
  if (draws.empty()) return out;
  for (const auto c : indices(draws.front())) {
    if (c == chosen) continue;
    std::vector<double> ratios;
    for (const std::vector<double>& draw : draws)
      ratios.push_back(std::log(draw[c] / draw[chosen]));
    const auto better = std::ranges::count_if(ratios, [](double ratio) { return ratio < 0; });
    // The middle 68.3 % of a normal distribution are two standard deviations wide.
    const NearestRival one{.rival = c,
                           .behind = std::expm1(median(ratios)),
                           .probability = as_double(better) / as_double(ratios.size()),
                           .deviation = (quantile(ratios, 0.8413) - quantile(ratios, 0.1587)) / 2};
    const bool is_nearer = !out || one.probability > out->probability ||
                           (one.probability == out->probability && one.behind < out->behind);
    if (is_nearer) out = one;
  }
  return out;
}

}  // namespace halmark
