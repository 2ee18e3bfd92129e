#include "simulate/sharding/step_cost.hpp"

#include <algorithm>

#include "core/numeric/cast.hpp"
#include "model/pricing/pipeline.hpp"
#include "model/pricing/step_sum.hpp"

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

PartTimes type_times(const OperatorGraph& graph, const LayerType& type, const OperatorTime& time,
                     std::string& unknown) {
  PartTimes out;
  for (const std::int32_t index : type.operators) {
    const Operator& op = graph.operators[as_size(index)];
    const std::optional<double> ns = time(op);
    if (!ns && unknown.empty()) unknown = op.name;
    const bool is_exchange = op.kind == OperatorKind::collective;
    (is_exchange ? out.communication_ns : out.compute_ns) += ns.value_or(0);
  }
  return out;
}

}  // namespace

StepCost step_cost(const OperatorGraph& graph, const OperatorTime& time) {
  return step_cost(graph, std::span(&time, 1));
}

StepCost step_cost(const OperatorGraph& graph, std::span<const OperatorTime> by_stage) {
  StepCost out;
  std::vector<KernelTime> times;
  for (const OperatorTime& time : by_stage) {
    out.types.emplace_back();
    for (const LayerType& type : graph.layer_types) {
      out.types.back().push_back(type_times(graph, type, time, out.unknown));
      times.push_back({.ns = out.types.back().back().ns(), .is_known = true});
    }
  }
  StepSum sum{.terms = {}, .stages = {}, .micro_batches = as_double(graph.micro_batches())};
  std::vector<PartTimes> stages;
  for (std::size_t s = 0; s < graph.stages.size(); ++s) {
    PartTimes stage;
    const std::size_t device = by_stage.size() > 1 ? s : 0;
    for (const std::int32_t type : graph.stage_sequence(s)) {
      stage += out.type(s, type);
      const auto kernel = static_cast<std::int32_t>(device * graph.layer_types.size()) + type;
      sum.terms.push_back({kernel, 1});
    }
    sum.end_stage();
    stages.push_back(stage);
    out.stage_ns.push_back(stage.ns());
  }
  out.alone_ns =
      pipeline_time(pipeline_slots(std::ssize(stages), graph.micro_batches()),
                    [&](std::int64_t stage, std::int64_t) {
                      return KernelTime{.ns = out.stage_ns[as_size(stage)], .is_known = true};
                    })
          .ns;
  const StepTime step = evaluate(sum, times);
  out.is_way = step.is_way;
  if (step.is_way) {
    for (const PartTimes& stage : stages) out.step += stage;
    return out;
  }
  const auto slowest = as_size(std::ranges::max_element(out.stage_ns) - out.stage_ns.begin());
  out.step = sum.micro_batches * stages[slowest];
  return out;
}

}  // namespace halmark::simulate
