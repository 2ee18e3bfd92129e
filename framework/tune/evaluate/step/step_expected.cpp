#include "tune/evaluate/step/step_expected.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "tune/evaluate/step/step_latencies.hpp"
#include "tune/plan/named_fabric.hpp"

namespace halmark::tune {

void expect_times(PricedStep& step, const StepTimes& asked, const Folders& devices,
                  const Folders& fabrics) {
  if (asked.sources.empty() && !step.device) return;
  const auto sources = sources_or_default(asked.sources, step.is_training());
  if (sources == std::vector<std::string>{"roofline"} && step.device) return;
  const auto topology = named_fabric(asked.fabric, step.graph.configuration, fabrics);
  const StepLatencies times(step, sources, devices, topology ? &*topology : nullptr);
  std::vector<Latency> expected;
  for (std::size_t i = 0; i < step.graph.operators.size(); ++i) {
    auto latency = times.of_operator(i);
    // A device that lacks a figure has no bound of it either, and that is said.
    if (!latency && asked.sources.empty()) return;
    if (!latency) {
      throw refused("no source knows a time of '" + step.graph.operators[i].name + "'", "--latency",
                    "add roofline");
    }
    expected.push_back(*std::move(latency));
  }
  step.basis = times.sources();
  if (!times.has_expectation()) return;
  step.expected = std::move(expected);
  for (std::size_t i = 0; i < step.expected.size(); ++i) {
    // An estimate of what is possible counts bytes that no proof may.
    const auto floor = operator_floor(step, step.graph.operators[i]);
    Latency& latency = step.expected[i];
    for (double* ns : {&latency.low_ns, &latency.ns, &latency.high_ns}) {
      *ns = std::max(*ns, floor ? floor->ns : 0);
    }
  }
}

}  // namespace halmark::tune
