#include "core/measured/duet.hpp"

#include <cmath>

#include "core/numeric/statistics.hpp"

namespace halmark {

bool wants_more_pairs(const Duet& duet, double floor) {
  constexpr std::size_t pairs_max = 30;
  constexpr double errors = 4;  // standard ones; Student's t for 1 % is 3.2 with ten pairs
  const std::size_t pairs = duet.log_ratios.size();
  if (duet.status != Status::ok || pairs < 3 || pairs >= pairs_max) return false;
  const double centre = mean(duet.log_ratios), size = std::abs(centre), limit = std::log1p(floor);
  if (pairs <= static_cast<std::size_t>(duet.choosing_pairs)) return size >= limit / 2;
  double squares = 0;
  for (const double ratio : duet.log_ratios) squares += (ratio - centre) * (ratio - centre);
  const auto n = static_cast<double>(pairs);
  const double doubt = errors * std::sqrt(squares / (n - 1) / n);
  const bool has_moved = size >= limit && size > doubt, is_same = size + doubt < limit;
  return !has_moved && !is_same;
}

}  // namespace halmark
