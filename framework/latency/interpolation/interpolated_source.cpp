#include "latency/interpolation/interpolated_source.hpp"

#include <algorithm>
#include <utility>

#include "latency/imported/collective_type.hpp"
#include "latency/interpolation/believed_points.hpp"
#include "latency/judged.hpp"

namespace halmark {

InterpolatedSource::InterpolatedSource(const Device& target,
                                       std::optional<double> network_bytes_per_s,
                                       CurveSolver solver)
    : network_bytes_per_s_(network_bytes_per_s),
      ceilings_(target, 0, 1, network_bytes_per_s),
      solver_(std::move(solver)) {}

void InterpolatedSource::add(std::span<const LatencyPoint> points, const Device& measured_on,
                             Origin origin, Interpolation::StatedErrors stated) {
  const std::vector<LatencyPoint> believed = believed_points(
      points, roofline::Ceilings(measured_on, 0, 1, network_bytes_per_s_), origin, left_out_);
  families_.push_back(
      {Interpolation(believed, measured_on, ShardShare{}, solver_, stated), std::move(origin)});
}

bool InterpolatedSource::is_outside(const Problem& asked) const {
  const Problem problem = with_one_16_bit_type(asked);
  return std::ranges::all_of(
      families_, [&](const Family& family) { return family.interpolation.is_outside(problem); });
}

std::optional<Latency> InterpolatedSource::latency(const Problem& asked, const Work& work) const {
  const Problem problem = with_one_16_bit_type(asked);
  for (const Family& family : families_) {
    auto latency = family.interpolation.latency(problem);
    if (!latency) continue;
    if (family.origin) {
      const std::string origin = family.origin(problem);
      latency->reason += "; " + origin;
      latency->origin += (latency->origin.empty() ? "" : " of ") + origin;
    }
    return judged(*std::move(latency), roofline::step_bound(asked, work, ceilings_));
  }
  return std::nullopt;
}

}  // namespace halmark
