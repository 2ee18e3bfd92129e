// The roofline of a device as a source of times: what a kernel is likely to take at best.
#pragma once

#include "latency/problem_source.hpp"
#include "roofline/ceilings.hpp"
#include "roofline/estimate.hpp"

namespace halmark {

class RooflineSource final : public ProblemSource {
 public:
  // `network_bytes_per_s`: see roofline::Links.
  RooflineSource(const Device& device, std::optional<double> network_bytes_per_s);

  using ProblemSource::latency;
  // Provenance roofline: the estimate, with the bound beside it. Nothing when the device states no
  // figure that the work needs. Allocates nothing.
  std::optional<Latency> latency(const Problem& problem, const Work& work) const override;

 private:
  roofline::Ceilings ceilings_;
  RooflineRates rates_;
};

}  // namespace halmark
