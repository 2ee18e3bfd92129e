#include "core/measured/state_interval.hpp"

#include <algorithm>
#include <cmath>

namespace halmark {
namespace {

bool is_same(double ratio) { return std::abs(ratio - 1) <= same_state; }

}  // namespace

std::optional<double> core_speed_ratio(std::optional<double> from, std::optional<double> to) {
  constexpr double ratio_max = 2;
  if (!from || !to || !(*from > 0) || !(*to > 0)) return std::nullopt;
  const double ratio = *to / *from;
  if (ratio > ratio_max || ratio < 1 / ratio_max) return std::nullopt;
  return ratio;
}

bool StateInterval::holds_at(const MachineState& there) const {
  if (!is_same(there.bytes_per_s / state.bytes_per_s)) return false;
  return compute_ns <= 0 ||
         is_same(core_speed_ratio(state.flops_per_s, there.flops_per_s).value_or(1));
}

Interval StateInterval::at(const MachineState& there) const {
  const double cores = core_speed_ratio(state.flops_per_s, there.flops_per_s).value_or(1);
  const double by_memory_ns =
      followed_share * memory_ns * (state.bytes_per_s / there.bytes_per_s - 1);
  const double by_cores_ns = followed_share * compute_ns * (1 / cores - 1);
  const double there_ns = step_ns + by_memory_ns + by_cores_ns;
  const double half_ns = (ns.high - ns.low) / 2 * there_ns / step_ns;
  const double wider_ns = std::hypot(half_ns, by_memory_ns / 2, by_cores_ns / 2);
  return {std::max(0.0, there_ns - wider_ns), there_ns + wider_ns};
}

}  // namespace halmark
