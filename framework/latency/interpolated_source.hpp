// Interpolations as a source: for what no table holds exactly.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/table_use.hpp"
#include "latency/interpolation.hpp"
#include "latency/problem_source.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {

class InterpolatedSource final : public ProblemSource {
 public:
  // Predicts for `target`. `network_bytes_per_s`: see roofline::Links.
  explicit InterpolatedSource(const Device& target, std::optional<double> network_bytes_per_s = {});

  // Whose figures lie between these points, for a problem: "gemm.csv: gemm bf16 torch_flow".
  using Origin = std::function<std::string(const Problem&)>;
  // Points of one implementation, on the target or on another device whose utilisation carries
  // over. Those that beat the roofline of the device they were measured on are left out and
  // counted; the example's `source` is `origin`, with its line.
  void add(std::span<const LatencyPoint> points, const Device& measured_on, Origin origin = {});
  const QuarantinedTimes& left_out() const { return left_out_; }

  using ProblemSource::latency;
  // Of the first interpolation that reaches the problem; quarantined below the target's bound.
  std::optional<Latency> latency(const Problem& problem, const Work& work) const override;

 private:
  Device target_;
  std::optional<double> network_bytes_per_s_;
  roofline::Ceilings ceilings_;
  struct Family {
    Interpolation interpolation;
    Origin origin;
  };
  std::vector<Family> families_;
  QuarantinedTimes left_out_;  // of all points
};

}  // namespace halmark
