// What a rank keeps during a training step: weights, gradients, optimizer states, activations.
#include <algorithm>
#include <cmath>

#include "model/graph/context_split.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/training/training.hpp"

namespace halmark {

namespace {

constexpr std::int64_t f32_bytes = 4;

std::int64_t divided(std::int64_t bytes, std::int64_t ranks) { return (bytes + ranks - 1) / ranks; }

const Operator& at(const OperatorGraph& graph, std::int32_t index) {
  return graph.operators[static_cast<std::size_t>(index)];
}

// Parameters of one instance on one rank; a tied head has its own only where no embedding is.
std::int64_t local_parameters(const OperatorGraph& graph, const Operator& op, const Stage& stage) {
  std::int64_t whole = op.parameters;
  if (op.kind == OperatorKind::head && graph.spec.tied) {
    whole = stage.has_embedding ? 0 : op.active_parameters;
  }
  if (whole == 0 || op.weight_bytes_whole == 0) return whole;
  const double share =
      static_cast<double>(op.weight_bytes_local) / static_cast<double>(op.weight_bytes_whole);
  return static_cast<std::int64_t>(std::llround(static_cast<double>(whole) * share));
}

// Low-rank pairs [rank, in] and [out, rank] beside every linear layer of this rank.
std::int64_t adapter_parameters(const Operator& op, std::int64_t rank) {
  if (op.kind != OperatorKind::linear || op.active_parameters == 0 || op.local.op != "gemm") {
    return 0;
  }
  return rank * (op.local.params.at("n") + op.local.params.at("k"));
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
    const std::int64_t count = op.stage_counts[stage];
    const std::int64_t held = count * local_parameters(graph, op, graph.stages[stage]);
    const std::int64_t trained =
        plan.lora_rank > 0 ? count * adapter_parameters(op, plan.lora_rank) : held;
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

double input_bytes(const Operator& op) {
  return op.rank_work.bytes_read - op.rank_work.constant_bytes;
}

// Scores are [batch, heads, queries, keys]; kept: the softmax in 16 bit, with dropout also its mask
// and its output: 2, or 2 + 1 + 2 bytes each.
double score_bytes(const OperatorGraph& graph, const TrainingPlan& plan) {
  if (plan.fused_attention || plan.recompute != Recompute::none) return 0;
  const Workload& w = graph.configuration.workload;
  const double heads = static_cast<double>(graph.spec.heads) / graph.configuration.parallel.tp;
  const auto scores = static_cast<double>(graph.micro_batch() * graph.rank_tokens() * w.context);
  const auto width = static_cast<double>(dtype_bytes(graph.configuration.precision.activation, 1));
  return scores * heads * (plan.dropout ? 2 * width + 1 : width);
}

double hidden_values(const OperatorGraph& graph) {
  return static_cast<double>(graph.micro_batch() * graph.rank_tokens() * graph.spec.hidden);
}

double activation_width(const OperatorGraph& graph) {
  return static_cast<double>(dtype_bytes(graph.configuration.precision.activation, 1));
}

// Bytes of everything the layer keeps without recomputing whole layers.
double kept_bytes(const OperatorGraph& graph, const LayerType& type, const TrainingPlan& plan) {
  const double tp = graph.configuration.parallel.tp;
  const double wide = hidden_values(graph) * activation_width(graph);  // one [tokens, hidden]
  const double of_sequence = plan.sequence_parallel ? tp : 1;  // split of replicated tensors
  double out = 0;
  bool is_normed_input_kept = false;
  for (const std::int32_t index : type.operators) {
    const Operator& op = at(graph, index);
    switch (op.kind) {
      case OperatorKind::norm:
        // Per-head norms are split by heads already.
        out += input_bytes(op) / (op.split == Split::head ? 1 : of_sequence);
        if (op.split != Split::head) is_normed_input_kept = false;
        break;
      case OperatorKind::linear:
      case OperatorKind::head:
        // Several products read the norm's output: it is kept once.
        if (op.split != Split::row && std::abs(input_bytes(op) - wide) < 0.5) {
          if (!is_normed_input_kept) out += wide / of_sequence;
          is_normed_input_kept = true;
        } else {
          out += input_bytes(op);
        }
        break;
      case OperatorKind::experts:
        out += input_bytes(op);
        break;
      case OperatorKind::attention:
        out += own_input_bytes(graph, op) + score_bytes(graph, plan);
        break;
      case OperatorKind::elementwise:
        if (op.local.op == "gated_activation" || op.local.op == "activation")
          out += input_bytes(op);
        break;
      default:
        break;
    }
  }
  // One mask byte behind each sub-layer.
  if (plan.dropout) out += 2 * hidden_values(graph) / of_sequence;
  return out;
}

std::int64_t rounded(double bytes) { return static_cast<std::int64_t>(std::llround(bytes)); }

}  // namespace

std::int64_t saved_activation_bytes(const OperatorGraph& graph, const LayerType& type,
                                    const TrainingPlan& plan) {
  // Full recomputation starts from the layer's input, which sequence parallelism splits.
  if (plan.recompute == Recompute::full) {
    const double ranks = plan.sequence_parallel ? graph.configuration.parallel.tp : 1;
    return rounded(hidden_values(graph) * activation_width(graph) / ranks);
  }
  return rounded(kept_bytes(graph, type, plan));
}

std::vector<TrainingMemory> training_memory(const OperatorGraph& graph, const TrainingPlan& plan) {
  std::vector<TrainingMemory> out(graph.stages.size());
  TrainingPlan once = plan;  // what the layer that is being recomputed holds
  once.recompute = Recompute::none;
  for (std::size_t i = 0; i < out.size(); ++i) {
    TrainingMemory& rank = out[i];
    const Stage& stage = graph.stages[i];
    const auto behind = static_cast<std::int64_t>(out.size() - i);
    rank.in_flight = std::min(behind, graph.micro_batches());
    add_states(graph, plan, i, rank);
    std::int64_t working = 0;
    for (std::int64_t layer = stage.first_layer; layer < stage.first_layer + stage.layers;
         ++layer) {
      const LayerType& type =
          graph
              .layer_types[static_cast<std::size_t>(graph.layers[static_cast<std::size_t>(layer)])];
      rank.activation_bytes += rank.in_flight * saved_activation_bytes(graph, type, plan);
      if (plan.recompute == Recompute::full) {
        working = std::max(working, saved_activation_bytes(graph, type, once));
      }
    }
    if (stage.has_head) {
      const std::int64_t rows = graph.micro_batch() * graph.rank_tokens();
      working += rows * divided(graph.spec.vocab, graph.configuration.parallel.tp) * f32_bytes;
    }
    rank.working_bytes = working;
  }
  return out;
}

const TrainingMemory& largest(const std::vector<TrainingMemory>& stages) {
  return *std::ranges::max_element(stages, {}, &TrainingMemory::total);
}

}  // namespace halmark
