#include "tune/evaluate/step/step_latencies.hpp"

#include "core/text/error.hpp"
#include "tune/evaluate/step/placed_latencies.hpp"
#include "tune/sources/served_engine.hpp"

namespace halmark::tune {
namespace {

const Device& device_of(const PricedStep& step) {
  if (step.device) return *step.device;
  throw refused("times are asked for, and no device is named", "--device",
                "add --device ID: halmark devices --known lists them");
}

}  // namespace

StepLatencies::StepLatencies(const PricedStep& step, const std::vector<std::string>& sources,
                             const std::vector<std::filesystem::path>& devices,
                             const fabric::Topology* topology)
    : step_(step) {
  const Device& device = device_of(step);
  LatencyChoice choice{.where = "--latency",
                       .device = device.id,
                       .device_where = "--device",
                       .engine = step.question.engine};
  for (const std::string& text : sources) {
    const SourceChoice source = parse_source(text, choice.where);
    if (source.kind == SourceKind::journal && !run_) {
      run_ = step_run(source.file, step.graph.configuration, device);
      if (run_) continue;
    }
    choice.sources.push_back(text);
  }
  if (choice.sources.empty()) choice.sources.emplace_back("roofline");
  priced_.emplace(priced_latencies(choice, device, devices, std::nullopt, topology));
  engine_ = step_engine(*priced_, step.graph.spec, step.graph.configuration.workload.phase);
}

std::optional<Latency> StepLatencies::of_operator(std::size_t index) const {
  const Operator& op = step_.graph.operators[index];
  if (run_) {
    if (auto known = run_->latency(op)) return known;
  }
  // What the slowest rank executes on paper; tables know the problem alone.
  return latency_of(priced_->chain, op);
}

std::vector<std::string> StepLatencies::sources() const {
  std::vector<std::string> out = priced_->sources;
  if (run_) out.insert(out.begin(), run_->source);
  return out;
}

}  // namespace halmark::tune
