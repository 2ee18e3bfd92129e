#include "tune/shards/journal_steps.hpp"

#include <set>

#include "core/lists.hpp"

namespace halmark::tune {
namespace {

constexpr std::size_t runs_max = 200;

std::set<std::string> exchanges_of(const OperatorGraph& graph) {
  std::set<std::string> out;
  for (const Operator& op : graph.operators) {
    if (op.kind == OperatorKind::collective) out.insert(op.name);
  }
  return out;
}

}  // namespace

std::vector<MeasuredStep> measured_steps(const Store& store, const std::string& fingerprint,
                                         const ModelSpec& spec) {
  const std::set<std::string> names(spec.names.begin(), spec.names.end());
  std::map<std::string, MeasuredStep> latest;
  for (const std::int64_t run : store.latest_runs(runs_max, fingerprint)) {
    std::map<std::string, Configuration> configurations;
    for (const Evaluation& e : store.rows<Evaluation>(run)) {
      if (e.configuration.model != spec.id && !names.contains(e.configuration.model)) continue;
      Configuration& own = configurations[e.configuration.key()];
      own = e.configuration;
      own.model = spec.id;
    }
    for (const Validation& v : store.rows<Validation>(run)) {
      const auto* it = find_value(configurations, v.deployment_key);
      if (!it || !v.has_time()) continue;
      latest[it->key()] = {*it, v};
    }
  }
  std::vector<MeasuredStep> out;
  for (auto& [key, step] : latest) out.push_back(std::move(step));
  return out;
}

std::map<std::string, double> step_times(const std::vector<MeasuredStep>& steps) {
  std::map<std::string, double> out;
  for (const MeasuredStep& step : steps) {
    out[step.configuration.key()] = step.validation.measured_ns;
  }
  return out;
}

simulate::MeasuredPairs measured_pairs(
    const ModelSpec& spec, const std::vector<MeasuredStep>& steps,
    const std::function<simulate::OperatorTime(std::int64_t shards)>& time_of) {
  simulate::MeasuredPairs out;
  for (const MeasuredStep& step : steps) {
    const auto graph = build_graph(spec, step.configuration);
    if (!graph) continue;
    const simulate::StepCost cost =
        simulate::step_cost(*graph, time_of(step.configuration.devices()));
    const std::set<std::string> exchanges = exchanges_of(*graph);
    simulate::PredictedMeasured compute{.predicted_ns = cost.step.compute_ns};
    simulate::PredictedMeasured communication{.predicted_ns = cost.step.communication_ns};
    for (const Validation::Operator& op : step.validation.operators) {
      (exchanges.contains(op.name) ? communication : compute).measured_ns += op.measured_ns;
    }
    out.compute.push_back(compute);
    // What stages wait for each other is measured with their hand-overs.
    if (step.configuration.parallel.pp == 1) out.communication.push_back(communication);
  }
  return out;
}

}  // namespace halmark::tune
