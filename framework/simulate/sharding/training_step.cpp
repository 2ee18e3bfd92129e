#include "simulate/sharding/training_step.hpp"

#include <algorithm>

#include "kernels/contract.hpp"
#include "model/graph/rank_places.hpp"

namespace halmark::simulate {
namespace {

std::optional<double> exchange_ns(const char* op, std::int64_t bytes, const OperatorGraph& graph,
                                  const OperatorTime& time) {
  const Parallel& parallel = graph.configuration.parallel;
  Operator exchange{.name = std::string("gradient_") + op, .kind = OperatorKind::collective};
  exchange.split = parallel.dp > 1 ? Split::data : Split::context;
  exchange.local = complete_problem(
      {op,
       {{"bytes", bytes},
        {"ranks", std::int64_t{parallel.dp} * parallel.cp},
        {"dtype", static_cast<std::int64_t>(graph.configuration.precision.activation)}}});
  exchange.local_work = find_contract(op)->work(exchange.local.params);
  exchange.rank_work = exchange.local_work;
  exchange.group_stride = group_stride(parallel, exchange.split);
  return time(exchange);
}

void add_gradients(const OperatorGraph& graph, const TrainingPlan& plan, const OperatorTime& time,
                   StepCost& out) {
  std::int64_t bytes = 0;
  for (const TrainingMemory& stage : training_memory(graph, plan)) {
    bytes = std::max(bytes, stage.gradient_message_bytes);
  }
  const Parallel& parallel = graph.configuration.parallel;
  if (bytes == 0 || parallel.dp * parallel.cp == 1) return;
  const std::int64_t ranks = std::int64_t{parallel.dp} * parallel.cp;
  const std::int64_t whole = (bytes + ranks - 1) / ranks * ranks;  // parts are alike
  double ns = 0;
  const auto add = [&](const char* op, std::int64_t of) {
    const auto one = exchange_ns(op, of, graph, time);
    if (!one && out.unknown.empty()) out.unknown = std::string("gradient_") + op;
    ns += one.value_or(0);
  };
  if (plan.zero == 0) {
    add("all_reduce", bytes);
  } else {
    add("reduce_scatter", whole);
    add("all_gather", whole);
  }
  out.step.communication_ns += ns;
  out.alone_ns += ns;
}

}  // namespace

StepCost training_step_cost(const OperatorGraph& graph, const TrainingPlan& plan,
                            const OperatorTime& time) {
  const TrainingCost passes = training_cost(graph, plan);
  const OperatorTime trained = [&](const Operator& op) -> std::optional<double> {
    const auto ns = time(op);
    if (!ns) return std::nullopt;
    const auto index = static_cast<std::size_t>(&op - graph.operators.data());
    return passes.operators[index].passes * *ns;
  };
  StepCost out = step_cost(graph, trained);
  const double filled = out.ns() > 0 ? out.alone_ns / out.ns() : 1;
  out.step = filled * out.step;
  add_gradients(graph, plan, time, out);
  return out;
}

RankMemory training_rank_memory(const OperatorGraph& graph, const TrainingPlan& plan) {
  const std::vector<TrainingMemory> stages = training_memory(graph, plan);
  const TrainingMemory& m = largest(stages);
  return {.weight_bytes = m.weight_bytes + m.gradient_bytes + m.optimizer_bytes,
          .kv_bytes = 0,
          .activation_bytes = m.activation_bytes + m.working_bytes + m.gathered_bytes};
}

}  // namespace halmark::simulate
