#include "model/training/training.hpp"

#include <algorithm>
#include <string>

#include "core/lists.hpp"
#include "core/text/enum_names.hpp"
#include "kernels/kv_cache.hpp"

namespace halmark {

namespace {

constexpr auto optimizers = enum_names<Optimizer>("none", "sgd", "momentum", "adam", "adam8bit");
constexpr auto losses = enum_names<Loss>("in-place", "plain");

bool is_layer_type(const OperatorGraph& graph, const Operator& op) {
  const auto named = [&](std::optional<std::int32_t> type) {
    return type && graph.layer_types[as_size(*type)].name == op.layer_type;
  };
  return !named(graph.embedding_type) && !named(graph.head_type) && !named(graph.pipeline_type);
}

// FLOPs of a pass through the pair of one instance, on `rows` rows.
double pair_flops(const Problem& problem, std::int64_t weights) {
  if (weights == 0) return 0;
  return 2 * as_double(problem.params.at("m")) * as_double(weights);
}

bool has_frozen_weights(const Operator& op, const TrainingPlan& plan) {
  return plan.lora_rank > 0 && op.active_parameters > 0;
}

// Backward passes in units of the forward pass.
double backward_passes(const Operator& op, const TrainingPlan& plan) {
  switch (op.kind) {
    case OperatorKind::embedding:
      return 0;
    case OperatorKind::collective:
      // Keys and values travel again, and their gradients with them.
      return op.split == Split::context ? 2 : 1;
    case OperatorKind::linear:
    case OperatorKind::experts:
    case OperatorKind::head:
      return has_frozen_weights(op, plan) ? 1 : 2;
    default:
      return 2;
  }
}

// Of the layer type that `op` belongs to: products before it.
int products_before(const OperatorGraph& graph, const Operator& op) {
  int out = 0;
  for (const Operator& other : graph.operators) {
    if (&other == &op) break;
    if (other.layer_type == op.layer_type) out += products_of(other, out).all;
  }
  return out;
}

double recomputed_passes(const OperatorGraph& graph, const Operator& op, const TrainingPlan& plan) {
  if (plan.recompute == Recompute::none || !is_layer_type(graph, op)) return 0;
  if (op.kind == OperatorKind::head) return 0;  // behind the layer of a prediction module
  if (plan.recompute == Recompute::full) return 1;
  if (plan.recompute == Recompute::alternate) {
    if (op.kind == OperatorKind::attention || op.kind == OperatorKind::collective) return 0;
    const Products products = products_of(op, products_before(graph, op));
    return products.all == 0 ? 1 : as_double(products.repeated) / products.all;
  }
  const bool is_ring = op.kind == OperatorKind::collective && op.split == Split::context;
  return op.kind == OperatorKind::attention || is_ring ? 1 : 0;
}

}  // namespace

std::string_view optimizer_name(Optimizer optimizer) { return optimizers.of(optimizer); }

std::optional<Optimizer> parse_optimizer(std::string_view text) { return optimizers.parse(text); }

std::string_view loss_name(Loss loss) { return losses.of(loss); }

std::optional<Loss> parse_loss(std::string_view text) { return losses.parse(text); }

Products products_of(const Operator& op, int place) {
  if (op.kind != OperatorKind::linear && op.kind != OperatorKind::experts) return {};
  if (op.matmul_flops <= 0) return {};
  const bool is_pair =
      op.name.ends_with("gate_up_proj") || op.name == "expert_gate_up" || op.name == "kv_proj";
  Products out{.all = is_pair ? 2 : 1};
  for (const int i : below(out.all)) out.repeated += (place + i) % 2;
  return out;
}

std::optional<Refusal> check_training(const OperatorGraph& graph, const TrainingPlan& plan) {
  if (graph.configuration.workload.phase != Phase::training) {
    return Refusal{"training_plan_without_training",
                   "phase is " + std::string(phase_name(graph.configuration.workload.phase))};
  }
  const Precision& precision = graph.configuration.precision;
  if (is_packed(precision)) {
    return Refusal{"dtype_unsupported", "packed weights have no gradient: train in bf16 or f32"};
  }
  const auto is_int8 = [&](const KernelKindRow& row) {
    return row.is_linear && precision.*row.field == Dtype::s8;
  };
  if (std::ranges::any_of(kernel_kinds, is_int8)) {
    return Refusal{"dtype_unsupported", "int8 linears have no gradient: train in bf16 or f32"};
  }
  if (is_quantized_kv(precision.kv_cache)) {
    return Refusal{"dtype_unsupported", "a KV cache of " +
                                            std::string(dtype_name(precision.kv_cache)) +
                                            ": training keeps its keys and values as activations"};
  }
  if (plan.zero < 0 || plan.zero > 3) {
    return Refusal{"zero_out_of_range", "zero " + std::to_string(plan.zero) + " is not in 0..3"};
  }
  if (plan.zero > 0 && graph.configuration.parallel.dp == 1 &&
      graph.configuration.parallel.cp == 1) {
    return Refusal{"zero_without_replicas",
                   "zero " + std::to_string(plan.zero) +
                       " shares out over dp and cp, and dp is 1 and cp is 1"};
  }
  if (plan.lora_rank < 0 || plan.lora_rank > graph.spec.hidden) {
    return Refusal{"lora_rank_out_of_range", "lora rank " + std::to_string(plan.lora_rank) +
                                                 " is not in 1.." +
                                                 std::to_string(graph.spec.hidden)};
  }
  if (plan.sequence_parallel && graph.configuration.parallel.tp == 1) {
    return Refusal{"sequence_parallel_without_tensor",
                   "sequence parallelism splits over tp, and tp is 1"};
  }
  return std::nullopt;
}

AdapterWeights adapter_weights(const Operator& op, std::int64_t rank) {
  const bool has_adapter = rank > 0 && op.kind == OperatorKind::linear && op.whole &&
                           op.active_parameters > 0 && op.local.op == "gemm";
  if (!has_adapter) return {};
  const auto of = [rank](const Params& p) { return rank * (p.at("n") + p.at("k")); };
  return {of(op.whole->params), of(op.local.params)};
}

TrainingCost training_cost(const OperatorGraph& graph, const TrainingPlan& plan) {
  TrainingCost out;
  out.totals.parameters = graph.totals.parameters;
  out.totals.active_parameters = graph.totals.active_parameters;
  std::vector<GraphTotals> stages(graph.stages.size());
  const auto micro_batches = as_double(graph.micro_batches());
  for (const Operator& op : graph.operators) {
    const double back = backward_passes(op, plan);
    const double again = recomputed_passes(graph, op, plan);
    const AdapterWeights pair = adapter_weights(op, plan.lora_rank);
    const double beside =
        pair.whole > 0 ? as_double(op.count) * pair_flops(*op.whole, pair.whole) : 0;
    const OperatorTraining cost{.forward = op.flops + beside,
                                .backward = back * op.flops + 2 * beside,
                                .recomputed = again * (op.flops + beside),
                                .adapters = 3 * beside,
                                .model_passes = 1 + back,
                                .passes = 1 + back + again};
    out.operators.push_back(cost);
    out.forward += op.matmul_flops + beside;
    out.backward += back * op.matmul_flops + 2 * beside;
    out.recomputed += again * (op.matmul_flops + beside);
    out.adapters += cost.adapters;
    out.totals.flops += cost.forward + cost.backward;
    out.totals.bytes += cost.model_passes * op.bytes;
    for (const auto i : indices(stages)) {
      const double instances = micro_batches * as_double(op.stage_counts[i]);
      const double executions = cost.passes * instances;
      const double of_pair = (3 + again) * instances * pair_flops(op.local, pair.local);
      stages[i].flops += executions * op.rank_work.flops() + of_pair;
      stages[i].matmul_flops += executions * op.rank_work.matmul_flops + of_pair;
      stages[i].bytes += executions * op.rank_work.bytes();
    }
  }
  out.totals.matmul_flops = out.model_flops();
  for (const GraphTotals& stage : stages) {
    GraphTotals& totals = out.totals;
    totals.flops_per_rank = std::max(totals.flops_per_rank, stage.flops);
    totals.matmul_flops_per_rank = std::max(totals.matmul_flops_per_rank, stage.matmul_flops);
    totals.bytes_per_rank = std::max(totals.bytes_per_rank, stage.bytes);
  }
  return out;
}

}  // namespace halmark
