// What a rank keeps during a training step: weights, gradients, optimizer states, activations.
#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/training/training.hpp"

namespace halmark {

namespace {

constexpr std::int64_t f32_bytes = 4;

std::int64_t divided(std::int64_t bytes, std::int64_t ranks) { return (bytes + ranks - 1) / ranks; }

// Parameters of one instance on one rank; a tied head has its own only where no embedding is.
std::int64_t local_parameters(const OperatorGraph& graph, const Operator& op, const Stage& stage) {
  std::int64_t whole = op.parameters;
  if (graph.is_prediction(op)) {
    // Modules read the tables of their stage; the embedding has a copy where it is on another.
    if (op.kind == OperatorKind::head) return 0;
    if (op.kind == OperatorKind::embedding && !stage.has_embedding) {
      whole = graph.spec.vocab * graph.spec.hidden;
    }
  } else if (op.kind == OperatorKind::head && graph.spec.tied) {
    whole = stage.has_embedding ? 0 : op.active_parameters;
  }
  if (whole == 0 || op.weight_bytes_whole == 0) return whole;
  const double share = as_double(op.weight_bytes_local) / as_double(op.weight_bytes_whole);
  return as_int64(std::llround(as_double(whole) * share));
}

struct StateWidths {
  std::int64_t weight = 2, gradient = 2, optimizer = 12;
};

StateWidths widths(const OperatorGraph& graph, const TrainingPlan& plan) {
  StateWidths out;
  out.weight = dtype_bytes(graph.configuration.precision.activation, 1);
  out.gradient = dtype_bytes(plan.gradient, 1);
  const std::int64_t master = out.weight < f32_bytes ? f32_bytes : 0;
  switch (plan.optimizer) {
    case Optimizer::none:
      out.optimizer = 0;
      break;
    case Optimizer::sgd:
      out.optimizer = master;
      break;
    case Optimizer::momentum:
      out.optimizer = master + f32_bytes;
      break;
    case Optimizer::adam:
      out.optimizer = master + 2 * f32_bytes;
      break;
    case Optimizer::adam8bit:
      out.optimizer = master + 2;
      break;
  }
  return out;
}

// Ranks with the same weights: those of data and of context parallelism. Experts that cross
// replicas have fewer copies to share their states with.
std::int64_t copies(const OperatorGraph& graph, const Operator& op) {
  const Parallel& parallel = graph.configuration.parallel;
  const std::int64_t cp = graph.configuration.parallel.cp;
  if (op.kind != OperatorKind::experts) return cp * parallel.dp;
  return cp * std::max(1, parallel.dp / expert_layout(parallel).across_replicas);
}

void add_states(const OperatorGraph& graph, const TrainingPlan& plan, std::size_t stage,
                TrainingMemory& out) {
  const StateWidths w = widths(graph, plan);
  for (const Operator& op : graph.operators) {
    const std::int64_t executed = op.stage_counts[stage];
    // Modules that run again do so with the same weights.
    const bool is_prediction = graph.is_prediction(op);
    const std::int64_t modules =
        op.kind == OperatorKind::embedding ? 1 : graph.prediction_instances();
    const std::int64_t count = is_prediction ? std::min(executed, modules) : executed;
    const std::int64_t held = count * local_parameters(graph, op, graph.stages[stage]);
    const std::int64_t trained =
        plan.lora_rank > 0 ? count * adapter_weights(op, plan.lora_rank).local : held;
    const std::int64_t all = plan.lora_rank > 0 ? held + trained : held;
    const std::int64_t ranks = copies(graph, op);
    const auto share = [&](std::int64_t bytes, int level) {
      return plan.zero >= level ? divided(bytes, ranks) : bytes;
    };
    out.weight_bytes += share(all * w.weight, 3);
    out.gradient_bytes += share(trained * w.gradient, 2);
    out.optimizer_bytes += share(trained * w.optimizer, 1);
    out.trained_parameters += trained;
    if (ranks > 1) out.gradient_message_bytes += trained * w.gradient;
  }
}

// Whole weights of the tables of a stage, and of its largest layer.
struct WholeUnits {
  std::int64_t tables = 0, layer = 0;  // parameters of a rank
};

WholeUnits whole_units(const OperatorGraph& graph, const Stage& stage, std::size_t index) {
  WholeUnits out;
  for (const LayerType& type : graph.layer_types) {
    std::int64_t layer = 0;
    for (const std::int32_t place : type.operators) {
      const Operator& op = graph.operators[as_size(place)];
      if (op.stage_counts[index] == 0) continue;
      const std::int64_t held = local_parameters(graph, op, stage);
      const bool is_table = op.kind == OperatorKind::embedding || op.kind == OperatorKind::head;
      (is_table ? out.tables : layer) += held;
    }
    out.layer = std::max(out.layer, layer);
  }
  return out;
}

std::int64_t gathered_bytes(const OperatorGraph& graph, const TrainingPlan& plan,
                            std::size_t index) {
  if (plan.zero < 2) return 0;
  const StateWidths w = widths(graph, plan);
  const WholeUnits units = whole_units(graph, graph.stages[index], index);
  const std::int64_t gradients = std::max(units.tables, units.layer) * w.gradient;
  return plan.zero < 3 ? gradients : gradients + (units.tables + 2 * units.layer) * w.weight;
}

// Sequence parallelism gathers the whole input of a layer's products again in the backward pass,
// and their gradient is whole before it is shared out (2205.05198, section 4.2.2).
std::int64_t whole_sequence_bytes(const OperatorGraph& graph, const TrainingPlan& plan) {
  if (!plan.sequence_parallel) return 0;
  const std::int64_t tokens = graph.micro_batch() * graph.rank_tokens();
  const std::int64_t tp = graph.configuration.parallel.tp;
  const std::int64_t values = 2 * tokens * graph.spec.hidden;
  return dtype_bytes(graph.configuration.precision.activation, values - values / tp);
}

std::int64_t logit_bytes(const OperatorGraph& graph, const TrainingPlan& plan) {
  const std::int64_t tp = graph.configuration.parallel.tp;
  // Of every prediction, since their losses are taken before the backward pass.
  const std::int64_t rows = graph.micro_batch() * graph.rank_tokens() * (1 + graph.drafted);
  const std::int64_t copies = plan.loss == Loss::in_place ? 1 : tp > 1 ? 4 : 3;
  const std::int64_t narrow = plan.loss == Loss::plain && tp > 1
                                  ? dtype_bytes(graph.configuration.precision.activation, 1)
                                  : 0;
  return rows * divided(graph.spec.vocab, tp) * (copies * f32_bytes + narrow);
}

}  // namespace

std::vector<TrainingMemory> training_memory(const OperatorGraph& graph, const TrainingPlan& plan) {
  std::vector<TrainingMemory> out(graph.stages.size());
  TrainingPlan once = plan;  // what the layer that is being recomputed holds
  once.recompute = Recompute::none;
  for (const auto i : indices(out)) {
    TrainingMemory& rank = out[i];
    const Stage& stage = graph.stages[i];
    const auto behind = as_int64(out.size() - i);
    rank.in_flight = std::min(behind, graph.micro_batches());
    add_states(graph, plan, i, rank);
    std::int64_t working = 0;
    for (std::int64_t layer = stage.first_layer; layer < stage.first_layer + stage.layers;
         ++layer) {
      const LayerType& type = graph.layer_types[as_size(graph.layers[as_size(layer)])];
      rank.activation_bytes += rank.in_flight * saved_activation_bytes(graph, type, plan);
      if (plan.recompute == Recompute::full || plan.recompute == Recompute::alternate) {
        working = std::max(working, saved_activation_bytes(graph, type, once));
      }
    }
    if (stage.has_head && graph.prediction_type) {
      const LayerType& module = graph.layer_types[as_size(*graph.prediction_type)];
      rank.activation_bytes +=
          rank.in_flight * graph.drafted * saved_activation_bytes(graph, module, plan);
    }
    working += whole_sequence_bytes(graph, plan);
    if (stage.has_head) working = std::max(working, logit_bytes(graph, plan));
    rank.gathered_bytes = gathered_bytes(graph, plan, i);
    rank.working_bytes = working;
  }
  return out;
}

const TrainingMemory& largest(const std::vector<TrainingMemory>& stages) {
  return *std::ranges::max_element(stages, {}, &TrainingMemory::total);
}

}  // namespace halmark
