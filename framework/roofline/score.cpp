#include "roofline/score.hpp"

namespace halmark {

std::optional<double> speed_of_light_score(double duration_ns, double bound_ns,
                                           double baseline_ns) {
  const bool is_known = duration_ns > 0 && bound_ns > 0 && baseline_ns > 0;
  if (!is_known) return std::nullopt;
  if (baseline_ns <= bound_ns) return duration_ns <= bound_ns ? 1.0 : 0.0;
  // The published form multiplied out: no division by a difference that may be 0.
  return (baseline_ns - bound_ns) / (baseline_ns + duration_ns - 2 * bound_ns);
}

}  // namespace halmark
