#include "core/measured/duet.hpp"

#include <cmath>

#include "core/numeric/statistics.hpp"

namespace halmark {

bool wants_more_pairs(const Duet& duet, double floor) {
  constexpr std::size_t pairs_max = 60;
  // Standard errors. A move that a night believes among some hundred series lies five from 0; one
  // whose error's double keeps it within the floor is none.
  constexpr double moved_errors = 5, same_errors = 2.3;
  // Of the floor: what is this small behind the choosing pairs will not reach it.
  constexpr double small_share = 0.6;
  const std::size_t pairs = duet.log_ratios.size();
  if (duet.status != Status::ok || pairs < 3 || pairs >= pairs_max) return false;
  const double centre = mean(duet.log_ratios), size = std::abs(centre), limit = std::log1p(floor);
  if (pairs <= static_cast<std::size_t>(duet.choosing_pairs)) return size >= limit / 2;
  if (size < small_share * limit) return false;
  double squares = 0;
  for (const double ratio : duet.log_ratios) squares += (ratio - centre) * (ratio - centre);
  const auto n = static_cast<double>(pairs);
  const double error = std::sqrt(squares / (n - 1) / n);
  const bool has_moved = size >= limit && size > moved_errors * error;
  const bool is_same = size + same_errors * error < limit;
  return !has_moved && !is_same;
}

}  // namespace halmark
