#include "model/utilisation/convention_graph.hpp"

#include <algorithm>
#include <string_view>

namespace halmark {

namespace {

constexpr std::string_view router_name = "router";

// The attention contracts whose mask is a plain causal one, and the width of their pairs: heads x
// (key width + value width). Nothing for those that select their keys.
std::optional<FlopShape::Attention> plain_attention(const Operator& op) {
  if (!op.whole) return std::nullopt;
  const Params& p = op.whole->params;
  FlopShape::Attention out{.layers = static_cast<double>(op.count)};
  if (op.whole->op == "attention") {
    out.width = static_cast<double>(2 * p.at("heads") * p.at("head_dim"));
    out.window = p.at("window");
  } else if (op.whole->op == "latent_attention" && p.at("top_k") == 0) {
    out.width = static_cast<double>(p.at("heads") * (p.at("qk_dim") + p.at("v_dim")));
  } else {
    return std::nullopt;
  }
  out.heads = static_cast<double>(p.at("heads"));
  return out;
}

// The products of drafts, whose rows are not those of the verified tokens: counted as they are.
void add_draft(const Operator& op, double tokens, FlopShape& out) {
  out.matmul_weights += op.matmul_flops / (2 * tokens);
}

void add_operator(const Operator& op, double tokens, FlopShape& out) {
  const auto count = static_cast<double>(op.count);
  const bool is_expert = op.kind == OperatorKind::experts;
  out.parameters += count * static_cast<double>(is_expert ? op.active_parameters : op.parameters);
  if (op.kind == OperatorKind::embedding) {
    out.lookup_parameters += count * static_cast<double>(op.parameters);
    return;
  }
  if (op.matmul_flops <= 0) return;
  if (op.kind == OperatorKind::head) {
    out.head_weights += count * static_cast<double>(op.active_parameters);
  } else if (const auto attention = plain_attention(op)) {
    out.attention.push_back(*attention);
  } else if (op.kind == OperatorKind::attention) {
    out.own_attention_flops += op.matmul_flops / tokens;
  } else {
    (op.name == router_name ? out.router_weights : out.matmul_weights) +=
        op.matmul_flops / (2 * tokens);
  }
}

}  // namespace

FlopShape flop_shape(const OperatorGraph& graph) {
  const Workload& w = graph.configuration.workload;
  const auto tokens = static_cast<double>(w.batch * w.new_tokens);
  FlopShape out;
  for (const Operator& op : graph.operators) {
    if (graph.is_prediction(op)) {
      add_draft(op, tokens, out);
    } else {
      add_operator(op, tokens, out);
    }
  }
  out.embedding_weights = static_cast<double>(graph.spec.hidden * graph.spec.vocab);
  // A tied table is multiplied as the head: it is no mere lookup.
  if (graph.spec.tied) out.lookup_parameters = 0;
  return out;
}

SequenceLength sequence_of(const OperatorGraph& graph) {
  const Workload& w = graph.configuration.workload;
  return {static_cast<double>(w.new_tokens), static_cast<double>(w.cached())};
}

}  // namespace halmark
