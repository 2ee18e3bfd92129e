#include "core/chosen/serving.hpp"

#include <cmath>
#include <numbers>

namespace halmark {

namespace {

double normal_distribution(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

}  // namespace

double probability_at_most(double limit, double value, double low, double high) {
  constexpr double z95 = 1.6448536269514722;  // 95 % quantile of the standard normal law
  if (!(limit > 0)) return 0;
  if (!(value > 0)) return 1;
  const double end = limit < value ? low : high;
  const double width = std::abs(std::log(end / value));
  if (!(end > 0) || width < 1e-12) return limit >= value ? 1 : 0;
  return normal_distribution(z95 * std::log(limit / value) / width);
}

}  // namespace halmark
