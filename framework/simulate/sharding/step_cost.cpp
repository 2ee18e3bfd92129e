#include "simulate/sharding/step_cost.hpp"

#include <utility>

#include "core/lists.hpp"
#include "model/pricing/timed_step.hpp"

namespace halmark::simulate {

PartTimes& operator+=(PartTimes& sum, const PartTimes& more) {
  sum.compute_ns += more.compute_ns;
  sum.communication_ns += more.communication_ns;
  return sum;
}

PartTimes operator*(double factor, const PartTimes& times) {
  return {factor * times.compute_ns, factor * times.communication_ns};
}

namespace {

PartTimes part_of(const Operator& op, const KernelTime& time) {
  return op.kind == OperatorKind::collective ? PartTimes{0, time.ns} : PartTimes{time.ns, 0};
}

std::vector<KernelTime> times_of(const OperatorGraph& graph, const OperatorTime& time,
                                 std::string& unknown) {
  std::vector<KernelTime> out;
  for (const Operator& op : graph.operators) {
    const std::optional<double> ns = time(op);
    if (!ns && unknown.empty()) unknown = op.name;
    out.push_back({.ns = ns.value_or(0), .is_known = true});
  }
  return out;
}

std::vector<PartTimes> type_times(const OperatorGraph& graph,
                                  const std::vector<KernelTime>& times) {
  std::vector<PartTimes> out;
  for (const LayerType& type : graph.layer_types) {
    PartTimes& sum = out.emplace_back();
    for (const std::int32_t index : type.operators) {
      sum += part_of(graph.operators[as_size(index)], times[as_size(index)]);
    }
  }
  return out;
}

PartTimes stage_times(const OperatorGraph& graph, const TimedStep& timed, std::size_t stage) {
  PartTimes out;
  for (const auto op : indices(graph.operators)) {
    const double count = as_double(graph.operators[op].stage_counts[stage]);
    out += count * part_of(graph.operators[op], timed.of(stage, op));
  }
  return out;
}

}  // namespace

StepCost step_cost(const OperatorGraph& graph, const OperatorTime& time) {
  return step_cost(graph, std::span(&time, 1));
}

StepCost step_cost(const OperatorGraph& graph, std::span<const OperatorTime> by_stage) {
  StepCost out;
  std::vector<std::vector<KernelTime>> times;
  for (const OperatorTime& time : by_stage) {
    times.push_back(times_of(graph, time, out.unknown));
    out.types.push_back(type_times(graph, times.back()));
  }
  const TimedStep timed(graph, std::move(times));
  out.is_way = timed.stream().is_way;
  for (std::size_t s = 0; s < graph.stages.size(); ++s) {
    const PartTimes stage = stage_times(graph, timed, s);
    out.stage_ns.push_back(stage.ns());
    if (out.is_way) out.step += stage;
    if (!out.is_way && s == timed.slowest_stage()) {
      out.step = as_double(graph.micro_batches()) * stage;
    }
  }
  out.alone_ns = timed.alone().ns;
  return out;
}

}  // namespace halmark::simulate
