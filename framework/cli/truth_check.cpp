#include "cli/truth_check.hpp"

#include <algorithm>
#include <map>

namespace halmark::cli {
namespace {

// Filling and gating the weights of every layer, as seen on the machines so far.
constexpr double staging_bytes_per_s = 1e9;
constexpr double start_s = 0.5;
constexpr double repetitions = 4;

}  // namespace

double predicted_check_s(const Estimate& estimate) {
  return start_s + static_cast<double>(estimate.memory_bytes_total) / staging_bytes_per_s +
         repetitions * estimate.step_ns / 1e9;
}

StackRunResult run_whole_stack(const OperatorGraph& graph, const StackPlacement& placement,
                               const TruthCheckOptions& options) {
  const std::vector<Stack> stacks = build_stacks(graph, placement);
  return run_stacks(stacks, {.plugin_path = options.plugin->path,
                             .seed = options.seed,
                             .budget_s = options.budget_s,
                             .arenas = options.arenas});
}

Validation confront(const OperatorGraph& graph, const Estimate& estimate,
                    const StackRunResult& run) {
  // A stack is one micro-batch; the stages work at once, so a step is pp of their periods.
  const auto periods = static_cast<double>(graph.stages.size());
  Validation out{
      .deployment_key = graph.configuration.key(),
      .predicted_ns = estimate.step_ns,
      .measured_ns = run.median_ns * periods,
      .predicted_interval_ns = {estimate.low_ns, estimate.high_ns},
      .measured_interval_ns = {run.interval_ns.low * periods, run.interval_ns.high * periods},
      .status = run.status,
      .reason = run.reason};
  if (!run.shared_instances.empty()) {
    out.reason += (out.reason.empty() ? "" : "; ") + std::string("memory ended: ") +
                  std::to_string(run.shared_instances.size()) + " kernels share weights";
  }
  std::map<std::string, double> predicted;
  for (const OperatorShare& share : estimate.operators) predicted[share.name] += share.ns;
  std::map<std::string, double> measured;
  for (const auto& op : run.operators) measured[op.name] += op.ns * periods;
  for (const OperatorShare& share : estimate.operators) {
    const auto it = measured.find(share.name);
    if (it == measured.end()) continue;
    out.operators.push_back({share.name, predicted[share.name], it->second});
    measured.erase(it);
  }
  return out;
}

}  // namespace halmark::cli
