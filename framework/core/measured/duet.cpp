#include "core/measured/duet.hpp"

#include <cmath>

#include "core/numeric/student_t.hpp"
#include "core/numeric/trimmed_mean.hpp"

namespace halmark {

bool wants_more_pairs(const Duet& duet, double floor) {
  constexpr std::size_t pairs_max = 60;
  // What a night believes among some hundred series, although it is asked again every few pairs: a
  // share of false ones of 0.01 over 1,000 series, ten times. In fewer pairs one outlier decides
  // Student's t: from 10 on five times as many equal builds were called slower as from 20 on.
  constexpr double moved_p = 1e-6;
  constexpr std::size_t moved_pairs = 20;
  // Of the floor: what is this small behind the choosing pairs will not reach it.
  constexpr double small_share = 0.6;
  const std::size_t pairs = duet.log_ratios.size();
  if (duet.status != Status::ok || pairs < 3 || pairs >= pairs_max) return false;
  const TrimmedMean moved = trimmed_mean(duet.log_ratios);
  const double size = std::abs(moved.value), limit = std::log1p(floor);
  if (pairs <= static_cast<std::size_t>(duet.choosing_pairs)) return size >= limit / 2;
  if (size < small_share * limit) return false;
  const bool has_moved = pairs >= moved_pairs && size >= limit &&
                         t_two_sided_p(size / moved.error, moved.freedom) <= moved_p;
  const bool is_same = size + t_critical(duet_same_p, moved.freedom) * moved.error < limit;
  return !has_moved && !is_same;
}

}  // namespace halmark
