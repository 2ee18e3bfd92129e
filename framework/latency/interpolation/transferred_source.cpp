#include "latency/interpolation/transferred_source.hpp"

#include <utility>

#include "core/text/text.hpp"
#include "latency/imported/collective_type.hpp"
#include "latency/judged.hpp"

namespace halmark {

namespace {}  // namespace

TransferredSource::TransferredSource(const Device& target,
                                     std::optional<double> network_bytes_per_s, CurveSolver solver)
    : network_bytes_per_s_(network_bytes_per_s),
      ceilings_(target, 0, 1, network_bytes_per_s),
      rates_(target, network_bytes_per_s),
      transfer_(network_bytes_per_s, std::move(solver)) {}

void TransferredSource::add(std::span<const LatencyPoint> points, const Device& measured_on,
                            PointsOrigin origin) {
  const roofline::Ceilings ceilings(measured_on, 0, 1, network_bytes_per_s_);
  transfer_.add(believed_points(points, ceilings, origin, left_out_), measured_on);
  origins_.push_back(std::move(origin));
}

std::optional<Latency> TransferredSource::latency(const Problem& asked, const Work& work) const {
  const Problem problem = with_one_16_bit_type(asked);
  const auto figure = transfer_.at(problem, rates_);
  if (!figure) return std::nullopt;
  Latency out{.ns = figure->ns,
              .low_ns = figure->low_ns,
              .high_ns = figure->high_ns,
              .provenance = Provenance::interpolated};
  out.origin = "transferred from " + join(figure->devices, ", ");
  const PointsOrigin& origin = origins_[figure->series.front()];
  if (origin) out.origin += " of " + origin(problem);
  out.reason =
      out.origin + " by what binds (" + std::string(resource_name(figure->binding)) + "); " +
      (figure->is_calibrated ? "90 % interval, of devices left out: " + join(figure->left_out, ", ")
                             : "spread, not calibrated: no device was left out and predicted");
  return judged(std::move(out), roofline::step_bound(asked, work, ceilings_));
}

}  // namespace halmark
