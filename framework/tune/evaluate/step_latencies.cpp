#include "tune/evaluate/step_latencies.hpp"

#include <algorithm>

#include "core/text/error.hpp"

namespace halmark::tune {
namespace {

LatencyChoice choice_of(const std::vector<std::string>& sources, const std::string& device) {
  LatencyChoice out{.sources = sources, .where = "--latency", .device = device};
  out.device_where = "--device";
  if (out.sources.empty()) out.sources.emplace_back("roofline");
  return out;
}

const Device& device_of(const PricedStep& step) {
  if (step.device) return *step.device;
  throw refused("a simulation needs times, and no device is named", "--device",
                "add --device ID: halmark devices --known lists them");
}

}  // namespace

StepLatencies::StepLatencies(const PricedStep& step, const std::vector<std::string>& sources,
                             const std::vector<std::filesystem::path>& devices,
                             const fabric::Topology& topology)
    : step_(step),
      priced_(priced_latencies(choice_of(sources, device_of(step).id), device_of(step), devices,
                               std::nullopt, &topology)) {}

std::optional<Latency> StepLatencies::of_operator(std::size_t index) const {
  const Operator& op = step_.graph.operators[index];
  // What the slowest rank executes on paper; tables know the problem alone.
  if (op.kind != OperatorKind::collective) return priced_.chain.latency(op.local, op.rank_work);
  return priced_.chain.latency(op.local, op.local_work, op.group_stride);
}

}  // namespace halmark::tune
