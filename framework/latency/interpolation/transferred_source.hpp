// Times of other devices as a source: for what no table of the target holds or reaches.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/chosen/table_use.hpp"
#include "latency/interpolation/believed_points.hpp"
#include "latency/interpolation/device_transfer.hpp"
#include "latency/problem_source.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {

class TransferredSource final : public ProblemSource {
 public:
  // Predicts for `target`. `network_bytes_per_s`: see roofline::Links; `solver`: see Interpolation.
  TransferredSource(const Device& target, std::optional<double> network_bytes_per_s = {},
                    CurveSolver solver = {});

  // Points of one implementation on another device. Those that beat its roofline are left out and
  // counted.
  void add(std::span<const LatencyPoint> points, const Device& measured_on,
           PointsOrigin origin = {});
  const QuarantinedTimes& left_out() const { return left_out_; }

  using ProblemSource::latency;
  // Its origin names the devices that it is carried from, and their series; its reason what binds
  // and what the interval holds. Quarantined below the target's bound.
  std::optional<Latency> latency(const Problem& problem, const Work& work) const override;

 private:
  std::optional<double> network_bytes_per_s_;
  roofline::Ceilings ceilings_;
  ResourceRates rates_;
  DeviceTransfer transfer_;
  std::vector<PointsOrigin> origins_;  // by series
  QuarantinedTimes left_out_;          // of all points
};

}  // namespace halmark
