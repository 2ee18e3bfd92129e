// The end of building a graph: stages, executions per stage, and sums of FLOPs, bytes and
// parameters.
#include <algorithm>
#include <utility>

#include "core/lists.hpp"
#include "model/graph/builder.hpp"

namespace halmark {

// Layers as they are stated, else in equal runs; a remainder goes to the first stages, because the
// last also has the head.
void GraphBuilder::cut_stages() {
  const Parallel& parallel = graph_.configuration.parallel;
  const auto pp = as_size(parallel.pp);
  const std::size_t layers = graph_.layers.size();
  std::int64_t first = 0;
  for (const auto stage : indices(pp)) {
    const std::int64_t count = parallel.stages.empty()
                                   ? as_int64(layers / pp + (stage < layers % pp ? 1 : 0))
                                   : parallel.stages[stage];
    graph_.stages.push_back({first, count, stage == 0, stage + 1 == pp});
    first += count;
  }
}

void GraphBuilder::count_executions() {
  for (Operator& op : graph_.operators) op.stage_counts.assign(graph_.stages.size(), 0);
  for (const auto stage : indices(graph_.stages)) {
    for (const std::int32_t type : graph_.stage_sequence(stage)) {
      for (const std::int32_t index : graph_.layer_types[as_size(type)].operators) {
        Operator& op = graph_.operators[as_size(index)];
        ++op.stage_counts[stage];
        ++op.count;
      }
    }
  }
}

void GraphBuilder::sum_totals() {
  GraphTotals& totals = graph_.totals;
  const auto micro_batches = as_double(graph_.micro_batches());
  std::vector<GraphTotals> stages(graph_.stages.size());
  for (Operator& op : graph_.operators) {
    const auto count = as_double(op.count);
    op.flops = count * op.whole_work.flops();
    op.matmul_flops = count * op.whole_work.matmul_flops;
    op.bytes = count * op.whole_work.bytes();
    for (const auto stage : indices(stages)) {
      const double executions = micro_batches * as_double(op.stage_counts[stage]);
      const double flops = executions * op.rank_work.flops();
      const double matmul_flops = executions * op.rank_work.matmul_flops;
      const double bytes = executions * op.rank_work.bytes();
      op.flops_per_rank = std::max(op.flops_per_rank, flops);
      op.matmul_flops_per_rank = std::max(op.matmul_flops_per_rank, matmul_flops);
      op.bytes_per_rank = std::max(op.bytes_per_rank, bytes);
      stages[stage].flops += flops;
      stages[stage].matmul_flops += matmul_flops;
      stages[stage].bytes += bytes;
    }
    totals.flops += op.flops;
    totals.matmul_flops += op.matmul_flops;
    totals.bytes += op.bytes;
    if (graph_.is_prediction(op)) {
      totals.prediction_parameters += graph_.spec.prediction_modules * op.parameters;
      continue;
    }
    totals.parameters += op.count * op.parameters;
    // A tied head multiplies the table it shares, so its weights are active although counted once.
    totals.active_parameters += op.count * op.active_parameters;
  }
  for (const GraphTotals& stage : stages) {
    totals.flops_per_rank = std::max(totals.flops_per_rank, stage.flops);
    totals.matmul_flops_per_rank = std::max(totals.matmul_flops_per_rank, stage.matmul_flops);
    totals.bytes_per_rank = std::max(totals.bytes_per_rank, stage.bytes);
  }
}

// Modules read the model's tables. A last stage without the embedding keeps a copy of it.
void GraphBuilder::set_prediction(GraphBuilder drafter, std::int64_t drafted) {
  const auto first = as_int(graph_.operators.size());
  const bool has_embedding = graph_.configuration.parallel.pp == 1;
  for (Operator& op : drafter.graph_.operators) {
    const bool is_shared =
        op.kind == OperatorKind::head || (op.kind == OperatorKind::embedding && has_embedding);
    if (is_shared) op.weight_bytes_whole = op.weight_bytes_local = 0;
    graph_.operators.push_back(std::move(op));
  }
  LayerType type = std::move(drafter.graph_.layer_types.back());
  for (std::int32_t& index : type.operators) index += first;
  graph_.prediction_type = as_int(graph_.layer_types.size());
  graph_.layer_types.push_back(std::move(type));
  graph_.drafted = drafted;
  const std::vector<LoadBranch>& branches = drafter.graph_.branches;
  append_all(graph_.branches, branches);
}

OperatorGraph GraphBuilder::finish() {
  cut_stages();
  count_executions();
  sum_totals();
  return std::move(graph_);
}

}  // namespace halmark
