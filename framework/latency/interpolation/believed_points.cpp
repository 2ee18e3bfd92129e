#include "latency/interpolation/believed_points.hpp"

#include "kernels/contract.hpp"
#include "roofline/bound.hpp"

namespace halmark {

std::vector<LatencyPoint> believed_points(std::span<const LatencyPoint> points,
                                          const roofline::Ceilings& measured_on,
                                          const PointsOrigin& origin, QuarantinedTimes& left_out) {
  std::vector<LatencyPoint> out;
  left_out.asked += points.size();
  for (const LatencyPoint& point : points) {
    const OpContract* contract = find_contract(point.problem.op);
    roofline::Bound bound;
    if (contract != nullptr) {
      bound =
          roofline::step_bound(point.problem, contract->work(point.problem.params), measured_on);
    }
    const auto why = point.ns > 0 ? roofline::quarantine(bound, point.ns) : std::nullopt;
    if (!why) {
      out.push_back(point);
    } else if (++left_out.kernels == 1) {
      left_out.problem = point.problem.text();
      left_out.source = origin ? origin(point.problem) : "";
      if (point.line > 0) left_out.source += ", line " + std::to_string(point.line);
      left_out.ns = point.ns;
      left_out.lower_bound_ns = bound.ns();
      left_out.reason = *why;
    }
  }
  return out;
}

}  // namespace halmark
