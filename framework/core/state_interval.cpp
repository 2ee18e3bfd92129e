#include "core/state_interval.hpp"

#include <algorithm>
#include <cmath>

namespace halmark {

bool StateInterval::holds_at(double there_bytes_per_s) const {
  return std::abs(there_bytes_per_s / bytes_per_s - 1) <= same_state;
}

Interval StateInterval::at(double there_bytes_per_s) const {
  const double moved_ns = followed_share * memory_ns * (bytes_per_s / there_bytes_per_s - 1);
  const double there_ns = step_ns + moved_ns;
  const double half_ns = (ns.high - ns.low) / 2 * there_ns / step_ns;
  const double wider_ns = std::hypot(half_ns, moved_ns / 2);
  return {std::max(0.0, there_ns - wider_ns), there_ns + wider_ns};
}

}  // namespace halmark
