// The roofline of a device as a source of times: what a kernel is likely to take at best.
#pragma once

#include "latency/problem_source.hpp"
#include "roofline/ceilings.hpp"
#include "roofline/estimate.hpp"

namespace halmark {

class RooflineSource final : public ProblemSource {
 public:
  // `network_bytes_per_s`: see roofline::Links. No estimate is below `launch_floor_ns`, see
  // LaunchFloor; bounds know nothing of it.
  RooflineSource(const Device& device, std::optional<double> network_bytes_per_s,
                 double launch_floor_ns = 0);

  using ProblemSource::latency;
  // Provenance roofline: the estimate, with the bound beside it. Nothing when the device states no
  // figure that the work needs. Allocates nothing.
  std::optional<Latency> latency(const Problem& problem, const Work& work) const override;

 private:
  roofline::Ceilings ceilings_;
  RooflineRates rates_;
  double launch_floor_ns_ = 0;
};

}  // namespace halmark
