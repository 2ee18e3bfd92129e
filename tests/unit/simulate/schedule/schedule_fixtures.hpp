// Small steps with times that tests choose, and the sites that they run on.
#pragma once

#include <utility>

#include "../../model/fixtures.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/schedule/step_simulation.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::schedule::test {

// `nodes` machines of `devices` on one leaf.
inline fabric::Topology leaf(int nodes, int devices = 1, double bandwidth_gbs = 12.5) {
  const std::string rate = std::to_string(bandwidth_gbs);
  return fabric::parse_fabric(
      "id = \"t\"\nname = \"t\"\n[node]\ncount = " + std::to_string(nodes) +
          "\ndevices = " + std::to_string(devices) +
          "\n[node.host]\ntransport = \"pcie\"\nlatency_us = 0.5\nbandwidth_gbs = 64\nsource = "
          "\"t\"\n"
          "[network]\nkind = \"leaf\"\ntransport = \"ib\"\nlatency_us = 1\nbandwidth_gbs = " +
          rate + "\nsource = \"t\"\n",
      "test");
}

inline PricedStep step_of(const ModelSpec& spec, const Configuration& configuration,
                          std::optional<TrainingPlan> plan = {}) {
  return price_step(spec, configuration, std::nullopt, {.training = std::move(plan)});
}
inline PricedStep step_of(const Configuration& configuration,
                          std::optional<TrainingPlan> plan = {}) {
  return step_of(model_test::tiny(), configuration, std::move(plan));
}

// `micro_batches` of one sequence on each replica.
inline Configuration training(Parallel parallel, std::int64_t micro_batches) {
  Configuration out = model_test::prefill(micro_batches * parallel.dp, 8, 8, parallel);
  out.workload.phase = Phase::training;
  out.workload.micro_batch = 1;
  return out;
}

inline Latency exactly(double ns) { return {.ns = ns, .low_ns = ns, .high_ns = ns}; }

using OperatorNs = std::function<double(const Operator&)>;

// Collectives beyond the graph take `extra_ns`.
inline TimeSources times_of(const PricedStep& step, OperatorNs of, double extra_ns = 0) {
  return {
      [&step, of = std::move(of)](std::size_t i) { return exactly(of(step.graph.operators[i])); },
      [extra_ns](const Problem&, const Work&, std::int64_t) { return exactly(extra_ns); }};
}

// The kernels of layers alone take time, 1000 ns each: stages with as many layers are equal.
inline double layers_alone(const Operator& op) {
  return op.layer_type == "decoder" && op.kind != OperatorKind::collective ? 1000 : 0;
}

// Of one layer that every stage has, forward.
inline double layer_ns(const PricedStep& step, const OperatorNs& of) {
  double out = 0;
  for (const Operator& op : step.graph.operators) {
    if (op.layer_type == "decoder") out += of(op);
  }
  return out;
}

inline StepSimulation simulated(const PricedStep& step, const fabric::Topology& topology,
                                const TimeSources& times, SimulationOptions options = {}) {
  if (!options.runs) options.runs = 0;
  const Site site(topology);
  return StepSimulator(step, site, times, options).run();
}

}  // namespace halmark::schedule::test
