// The model counts what a deployment has to keep; a stack holds the operands of its kernels.
#include "model/pricing/stack/stack_memory.hpp"

#include "core/numeric/cast.hpp"
#include "kernels/contract.hpp"
#include "model/graph/context_split.hpp"

namespace halmark {

namespace {

std::int64_t constant_operand_bytes(const Problem& given) {
  const Problem problem = complete_problem(given);
  std::int64_t bytes = 0;
  for (const OperandSpec& operand : find_contract(problem.op)->operands(problem.params)) {
    if (operand.role == Role::constant) bytes += operand.bytes();
  }
  return bytes;
}

bool is_idle(const Operator& op, int expert_rank) {
  return !op.of_expert_rank.empty() && !op.of_expert_rank[as_size(expert_rank)];
}

// Keys and values of one sequence in a stage that no query of the window sees any more.
std::int64_t beyond_window_bytes(const OperatorGraph& graph, const Stage& stage) {
  std::int64_t bytes = 0;
  for (std::int64_t layer = stage.first_layer; layer < stage.first_layer + stage.layers; ++layer) {
    const std::int32_t type = graph.layers[as_size(layer)];
    for (LayerCache cache : graph.layer_types[as_size(type)].caches) {
      const std::int64_t kept = cache.bytes(kept_tokens(graph, cache), &Extent::local);
      cache.tokens_max = 0;
      bytes += cache.bytes(kept_tokens(graph, cache), &Extent::local) - kept;
    }
  }
  return bytes;
}

}  // namespace

StackMemory stack_memory(const OperatorGraph& graph, std::size_t stage, int expert_rank) {
  const Stage& ends = graph.stages[stage];
  const Configuration& configuration = graph.configuration;
  StackMemory out{.modelled = memory_use(graph).stages[stage]};
  out.table_twice_bytes = shared_table_bytes(graph, ends);
  for (const Operator& op : graph.operators) {
    const std::int64_t executed = op.stage_counts[stage];
    if (executed == 0) continue;
    if (is_idle(op, expert_rank)) {
      out.idle_expert_bytes += executed * op.weight_bytes_local;
    } else {
      out.unread_bytes += executed * (op.weight_bytes_local - constant_operand_bytes(op.local));
    }
  }
  const std::int64_t sequences = configuration.workload.batch / configuration.parallel.dp;
  out.beyond_window_bytes = beyond_window_bytes(graph, ends) * sequences;
  return out;
}

}  // namespace halmark
