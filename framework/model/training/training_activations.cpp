// What a layer keeps of its forward pass for the backward pass.
#include <cmath>

#include "core/lists.hpp"
#include "model/graph/context_split.hpp"
#include "model/training/training.hpp"

namespace halmark {

namespace {

const Operator& at(const OperatorGraph& graph, std::int32_t index) {
  return graph.operators[as_size(index)];
}

double input_bytes(const Operator& op) {
  return op.rank_work.bytes_read - op.rank_work.constant_bytes;
}

// Scores are [batch, heads, queries, keys]; kept: the softmax in 16 bit, with dropout also its mask
// and its output: 2, or 2 + 1 + 2 bytes each.
double score_bytes(const OperatorGraph& graph, const TrainingPlan& plan) {
  if (plan.fused_attention || plan.recompute != Recompute::none) return 0;
  const Workload& w = graph.configuration.workload;
  const double heads = as_double(graph.spec.heads) / graph.configuration.parallel.tp;
  const auto scores = as_double(graph.micro_batch() * graph.rank_tokens() * w.context);
  const auto width = as_double(dtype_bytes(graph.configuration.precision.activation, 1));
  return scores * heads * (plan.dropout ? 2 * width + 1 : width);
}

double hidden_values(const OperatorGraph& graph) {
  return as_double(graph.micro_batch() * graph.rank_tokens() * graph.spec.hidden);
}

double activation_width(const OperatorGraph& graph) {
  return as_double(dtype_bytes(graph.configuration.precision.activation, 1));
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

std::int64_t rounded(double bytes) { return as_int64(std::llround(bytes)); }

// Input, outputs of attention and of every other product.
double alternate_bytes(const OperatorGraph& graph, const LayerType& type,
                       const TrainingPlan& plan) {
  const double ranks = plan.sequence_parallel ? graph.configuration.parallel.tp : 1;
  double out = hidden_values(graph) * activation_width(graph) / ranks;
  int place = 0;
  for (const std::int32_t index : type.operators) {
    const Operator& op = at(graph, index);
    if (op.kind == OperatorKind::attention) out += op.rank_work.bytes_written;
    const Products products = products_of(op, place);
    place += products.all;
    if (products.all == 0) continue;
    const int kept = products.all - products.repeated;
    const double rows_split = op.split == Split::row ? ranks : 1;
    out += op.rank_work.bytes_written * kept / products.all / rows_split;
  }
  return out;
}

}  // namespace

std::int64_t saved_activation_bytes(const OperatorGraph& graph, const LayerType& type,
                                    const TrainingPlan& plan) {
  // Full recomputation starts from the layer's input, which sequence parallelism splits.
  if (plan.recompute == Recompute::full) {
    const double ranks = plan.sequence_parallel ? graph.configuration.parallel.tp : 1;
    return rounded(hidden_values(graph) * activation_width(graph) / ranks);
  }
  if (plan.recompute == Recompute::alternate) return rounded(alternate_bytes(graph, type, plan));
  return rounded(kept_bytes(graph, type, plan));
}

}  // namespace halmark
