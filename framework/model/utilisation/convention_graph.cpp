#include "model/utilisation/convention_graph.hpp"

#include <string_view>

#include "core/lists.hpp"

namespace halmark {

namespace {

constexpr std::string_view router_name = "router";

// The attention contracts whose mask is a plain causal one, and the width of their pairs: heads x
// (key width + value width). Nothing for those that select their keys.
std::optional<FlopShape::Attention> plain_attention(const Operator& op) {
  if (!op.whole) return std::nullopt;
  const Params& p = op.whole->params;
  FlopShape::Attention out{.layers = as_double(op.count)};
  if (op.whole->op == "attention") {
    out.width = as_double(2 * p.at("heads") * p.at("head_dim"));
    out.window = p.at("window");
  } else if (op.whole->op == "latent_attention" && p.at("top_k") == 0) {
    out.width = as_double(p.at("heads") * (p.at("qk_dim") + p.at("v_dim")));
  } else {
    return std::nullopt;
  }
  out.heads = as_double(p.at("heads"));
  return out;
}

bool is_gate(const Operator& op) {
  return op.name.ends_with("gate_up_proj") || op.name == "expert_gate_up";
}

// GPT-OSS states SiLU and multiplies by sigmoid(1.702 x), which its trainers know as another one.
bool has_silu(const ModelSpec& spec) {
  return spec.gate == GateKind::silu && spec.family != "gpt_oss";
}

// Half of the product of gate and up, behind another activation than SiLU.
void add_gate(const ModelSpec& spec, const Operator& op, double weights, FlopShape& out) {
  if (!has_silu(spec) && is_gate(op)) out.gate_weights += weights / 2;
}

// Operators of state-space layers by the op of the layer, and the layer that the rule `expanded`
// has in its place.
void add_state_space(const OperatorGraph& graph, double tokens, FlopShape& out) {
  if (!graph.spec.state_space) return;
  const StateSpaceSpec& ssm = *graph.spec.state_space;
  const auto hidden = as_double(graph.spec.hidden), width = 2 * hidden;
  const auto state = as_double(ssm.state_dim);
  const auto groups = as_double(2 * ssm.group_width() + ssm.heads);
  constexpr double flops_per_value = 7;
  for (const LayerType& type : graph.layer_types) {
    const auto op_of = [&](std::int32_t index) -> const Operator& {
      return graph.operators[as_size(index)];
    };
    const auto scans = [&](std::int32_t index) { return op_of(index).local.op == "state_scan"; };
    const auto* scan = find_or_null(type.operators, true, scans);
    if (!scan) continue;
    const auto layers = as_double(op_of(*scan).count);
    out.state_space_flops += op_of(*scan).matmul_flops / tokens;
    out.expanded_flops += layers * flops_per_value * width * state;
    out.expanded_weights += layers * hidden * (2 * width + groups + width);
    for (const std::int32_t index : type.operators) {
      const Operator& op = op_of(index);
      if (op.name != "in_proj" && op.name != "out_proj") continue;
      out.state_space_weights += op.matmul_flops / (2 * tokens);
    }
  }
}

// The products of drafts, whose rows are not those of the verified tokens: counted as they are.
void add_draft(const Operator& op, double tokens, FlopShape& out) {
  out.matmul_weights += op.matmul_flops / (2 * tokens);
}

void add_operator(const ModelSpec& spec, const Operator& op, double tokens, FlopShape& out) {
  const auto count = as_double(op.count);
  const bool is_expert = op.kind == OperatorKind::experts;
  out.parameters += count * as_double(is_expert ? op.active_parameters : op.parameters);
  if (op.kind == OperatorKind::embedding) {
    out.lookup_parameters += count * as_double(op.parameters);
    return;
  }
  if (op.matmul_flops <= 0) return;
  if (op.kind == OperatorKind::head) {
    out.head_weights += count * as_double(op.active_parameters);
  } else if (const auto attention = plain_attention(op)) {
    out.attention.push_back(*attention);
  } else if (op.kind == OperatorKind::attention) {
    out.own_attention_flops += op.matmul_flops / tokens;
  } else {
    const double weights = op.matmul_flops / (2 * tokens);
    (op.name == router_name ? out.router_weights : out.matmul_weights) += weights;
    add_gate(spec, op, weights, out);
  }
}

}  // namespace

FlopShape flop_shape(const OperatorGraph& graph, bool has_modules) {
  const Workload& w = graph.configuration.workload;
  const auto tokens = as_double(w.batch * w.new_tokens);
  FlopShape out;
  for (const Operator& op : graph.operators) {
    const bool is_prediction = graph.is_prediction(op);
    if (is_prediction && !has_modules) continue;
    if (is_prediction && w.phase != Phase::training) {
      add_draft(op, tokens, out);
    } else {
      add_operator(graph.spec, op, tokens, out);
    }
  }
  add_state_space(graph, tokens, out);
  out.embedding_weights = as_double(graph.spec.hidden * graph.spec.vocab);
  // A tied table is multiplied as the head: it is no mere lookup.
  if (graph.spec.tied) out.lookup_parameters = 0;
  return out;
}

SequenceLength sequence_of(const OperatorGraph& graph) {
  const Workload& w = graph.configuration.workload;
  return {as_double(w.new_tokens), as_double(w.cached())};
}

}  // namespace halmark
