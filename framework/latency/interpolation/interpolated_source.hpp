// Interpolations as a source: for what no table holds exactly.
#pragma once

#include <span>
#include <vector>

#include "core/chosen/table_use.hpp"
#include "latency/interpolation/believed_points.hpp"
#include "latency/interpolation/interpolation.hpp"
#include "latency/problem_source.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {

class InterpolatedSource final : public ProblemSource {
 public:
  // Predicts for `target`. `network_bytes_per_s`: see roofline::Links.
  // Without `solver` nothing is predicted beyond the measured sizes.
  explicit InterpolatedSource(const Device& target, std::optional<double> network_bytes_per_s = {},
                              CurveSolver solver = {});

  using Origin = PointsOrigin;
  // Points of one implementation on the target, whatever file describes it. Those that beat the
  // roofline of `measured_on` are left out and counted; the example's `source` is `origin`, with
  // its line. `stated`: see Interpolation.
  void add(std::span<const LatencyPoint> points, const Device& measured_on, Origin origin = {},
           Interpolation::StatedErrors stated = {});
  const QuarantinedTimes& left_out() const { return left_out_; }
  // Whether some size lies beyond those measured, of every interpolation of its family.
  bool is_outside(const Problem& problem) const;

  using ProblemSource::latency;
  // Of the first interpolation that reaches the problem; quarantined below the target's bound.
  std::optional<Latency> latency(const Problem& problem, const Work& work) const override;

 private:
  std::optional<double> network_bytes_per_s_;
  roofline::Ceilings ceilings_;
  CurveSolver solver_;
  struct Family {
    Interpolation interpolation;
    Origin origin;
  };
  std::vector<Family> families_;
  QuarantinedTimes left_out_;  // of all points
};

}  // namespace halmark
