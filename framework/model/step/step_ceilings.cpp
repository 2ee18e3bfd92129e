#include "model/step/step_ceilings.hpp"

#include <algorithm>
#include <utility>

#include "core/text/error.hpp"

namespace halmark {
namespace {

void scale(std::optional<double>& high, double& value, double factor) {
  value *= factor;
  if (high) *high *= factor;
}

Device changed(Device device, const Ceilings& by) {
  for (Peak& peak : device.peaks) scale(peak.flops_per_s_high, peak.flops_per_s, by.peak);
  for (Bandwidth& b : device.bandwidths) scale(b.bytes_per_s_high, b.bytes_per_s, by.bandwidth);
  for (Link& link : device.links) scale(link.bytes_per_s_high, link.bytes_per_s, by.link);
  return device;
}

// `before`, `after`: bounds of one execution.
void change(Latency& latency, double before, double after) {
  const double saved = before - after, ratio = before > 0 ? after / before : 1;
  const Latency was = latency;
  latency.ns = was.provenance == Provenance::roofline ? was.ns - saved : was.ns * ratio;
  latency.low_ns = std::min(was.low_ns * ratio, was.low_ns - saved);
  latency.high_ns = std::max(was.high_ns * ratio, was.high_ns - saved);
  const double least = std::min(after, was.ns * ratio);  // tables may have less than an estimate
  for (double* ns : {&latency.low_ns, &latency.ns, &latency.high_ns}) *ns = std::max(*ns, least);
}

}  // namespace

PricedStep with_ceilings(const PricedStep& step, const Ceilings& factors,
                         std::vector<std::string> changes) {
  if (!step.device || step.question.measured_ms) {
    throw refused("--what-if changes what a device could do", {},
                  step.device ? "leave what was measured out" : "add --device ID");
  }
  PricedStep out = step;
  out.device = changed(*step.device, factors);
  out.before = std::make_shared<PricedStep>(step);
  out.changes = std::move(changes);
  for (auto& [index, latency] : out.over_fabric) latency.ns /= factors.link;
  for (std::size_t i = 0; i < out.expected.size(); ++i) {
    const auto before = operator_floor(step, step.graph.operators[i]);
    const auto after = operator_floor(out, out.graph.operators[i]);
    if (before && after) change(out.expected[i], before->ns, after->ns);
  }
  return out;
}

}  // namespace halmark
