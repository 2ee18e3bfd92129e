// A false point would pull all its neighbours below the roofline, so points are judged before they
// teach anything, and what they teach is judged again.
#include "latency/interpolated_source.hpp"

#include <utility>

#include "kernels/contract.hpp"
#include "latency/imported/collective_type.hpp"
#include "latency/judged.hpp"

namespace halmark {

InterpolatedSource::InterpolatedSource(const Device& target,
                                       std::optional<double> network_bytes_per_s)
    : target_(target),
      network_bytes_per_s_(network_bytes_per_s),
      ceilings_(target, 0, 1, network_bytes_per_s) {}

void InterpolatedSource::add(std::span<const LatencyPoint> points, const Device& measured_on,
                             Origin origin) {
  const roofline::Ceilings ceilings(measured_on, 0, 1, network_bytes_per_s_);
  std::vector<LatencyPoint> believed;
  left_out_.asked += points.size();
  for (const LatencyPoint& point : points) {
    const OpContract* contract = find_contract(point.problem.op);
    roofline::Bound bound;
    if (contract != nullptr) {
      bound = roofline::step_bound(point.problem, contract->work(point.problem.params), ceilings);
    }
    const auto why = point.ns > 0 ? roofline::quarantine(bound, point.ns) : std::nullopt;
    if (!why) {
      believed.push_back(point);
    } else if (++left_out_.kernels == 1) {
      left_out_.problem = point.problem.text();
      left_out_.source = origin ? origin(point.problem) : "";
      if (point.line > 0) left_out_.source += ", line " + std::to_string(point.line);
      left_out_.ns = point.ns;
      left_out_.lower_bound_ns = bound.ns();
      left_out_.reason = *why;
    }
  }
  const bool is_carried_over = measured_on.id != target_.id;
  families_.push_back(
      {Interpolation(believed, measured_on, ShardShare{}, is_carried_over ? &target_ : nullptr),
       std::move(origin)});
}

std::optional<Latency> InterpolatedSource::latency(const Problem& asked, const Work& work) const {
  const Problem problem = with_one_16_bit_type(asked);
  for (const Family& family : families_) {
    auto latency = family.interpolation.latency(problem);
    if (!latency) continue;
    if (family.origin) {
      latency->origin = family.origin(problem);
      latency->reason += "; " + latency->origin;
    }
    return judged(*std::move(latency), roofline::step_bound(asked, work, ceilings_));
  }
  return std::nullopt;
}

}  // namespace halmark
