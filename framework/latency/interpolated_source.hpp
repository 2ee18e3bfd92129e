// Interpolations as a source: for what no table holds exactly.
#pragma once

#include <span>
#include <vector>

#include "latency/interpolation.hpp"
#include "latency/problem_source.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {

class InterpolatedSource final : public ProblemSource {
 public:
  // Predicts for `target`. `network_bytes_per_s`: see roofline::Links.
  explicit InterpolatedSource(const Device& target, std::optional<double> network_bytes_per_s = {});

  // Points of one implementation, on the target or on another device whose utilisation carries
  // over. Those that beat the roofline of the device they were measured on are left out and
  // counted.
  void add(std::span<const LatencyPoint> points, const Device& measured_on);
  std::size_t left_out() const { return left_out_; }

  using ProblemSource::latency;
  // Of the first interpolation that reaches the problem; quarantined below the target's bound.
  std::optional<Latency> latency(const Problem& problem, const Work& work) const override;

 private:
  Device target_;
  std::optional<double> network_bytes_per_s_;
  roofline::Ceilings ceilings_;
  std::vector<Interpolation> interpolations_;
  std::size_t left_out_ = 0;
};

}  // namespace halmark
