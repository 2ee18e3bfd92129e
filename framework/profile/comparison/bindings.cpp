#include "profile/comparison/bindings.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/lists.hpp"

namespace halmark::trace {
namespace {

// A module's name in the libraries, and the model's operators that it executes: the first set of
// which a layer has all. Sets are separated by '|', operators by '+'.
struct Role {
  std::string_view leaf;
  std::string_view operators;
};

constexpr std::array attention_roles = {
    Role{"q_proj", "q_proj|qkv_proj"},
    Role{"k_proj", "kv_proj|k_proj|qkv_proj"},
    Role{"v_proj", "kv_proj|v_proj|qkv_proj"},
    Role{"kv_proj", "kv_proj"},
    Role{"qkv_proj", "q_proj+kv_proj|qkv_proj"},
    Role{"c_attn", "qkv_proj|q_proj+kv_proj"},
    Role{"query_key_value", "qkv_proj|q_proj+kv_proj"},
    Role{"q_a_proj", "q_a_proj"},
    Role{"wq", "q_proj"},
    Role{"wq_a", "q_a_proj"},
    Role{"wq_b", "q_b_proj|q_proj"},
    Role{"wkv", "kv_proj"},
    Role{"wkv_a", "kv_a_proj"},
    Role{"wkv_b", "kv_b_proj|q_up+v_up"},
    Role{"wo", "o_proj"},
    Role{"wo_a", "o_a_proj"},
    Role{"wo_b", "o_b_proj"},
    Role{"o_a_proj", "o_a_proj"},
    Role{"o_b_proj", "o_b_proj"},
    Role{"q_b_proj", "q_b_proj|q_proj"},
    Role{"kv_a_proj_with_mqa", "kv_a_proj|kv_proj"},
    Role{"fused_qkv_a_proj_with_mqa", "q_a_proj+kv_a_proj|q_a_proj+kv_proj"},
    Role{"kv_b_proj", "kv_b_proj|q_up+v_up"},
    Role{"o_proj", "o_proj"},
    Role{"out_proj", "o_proj|out_proj"},
    Role{"c_proj", "o_proj"},
    Role{"dense", "o_proj"},
};
// Names of transformers, of DeepSeek's own inference code, and of vLLM where it fuses two.
constexpr std::array indexer_roles = {
    Role{"wq_b", "index_q_proj"},
    Role{"q_b_proj", "index_q_proj"},
    Role{"wk", "index_k_proj"},
    Role{"weights_proj", "index_weights_proj"},
    Role{"wk_weights_proj", "index_k_proj+index_weights_proj"},
    Role{"kv_proj", "index_compressor"},
    Role{"gate_proj", "index_compressor"},
    Role{"wkv", "index_compressor"},
    Role{"wgate", "index_compressor"},
};
constexpr std::array compressor_roles = {
    Role{"kv_proj", "compressor"},
    Role{"gate_proj", "compressor"},
    Role{"wkv", "compressor"},
    Role{"wgate", "compressor"},
};
constexpr std::array recurrence_roles = {
    Role{"in_proj_qkvz", "qkvz_proj"}, Role{"in_proj_qkv", "qkvz_proj"},
    Role{"in_proj_z", "qkvz_proj"},    Role{"in_proj_ba", "ba_proj"},
    Role{"in_proj_b", "ba_proj"},      Role{"in_proj_a", "ba_proj"},
    Role{"in_proj", "in_proj"},        Role{"out_proj", "out_proj"},
};
constexpr std::array hyper_connection_roles = {
    Role{"attn_hc", "attention_mix"},
    Role{"ffn_hc", "ffn_mix"},
};
constexpr std::array mlp_roles = {
    Role{"gate_proj", "gate_up_proj|gate_proj"},
    Role{"up_proj", "gate_up_proj|up_proj"},
    Role{"gate_up_proj", "gate_up_proj|gate_proj+up_proj"},
    Role{"c_fc", "up_proj|gate_up_proj"},
    Role{"fc1", "up_proj|gate_up_proj"},
    Role{"down_proj", "down_proj"},
    Role{"c_proj", "down_proj"},
    Role{"fc2", "down_proj"},
};
constexpr std::string_view whole_experts = "expert_gate_up+expert_down|expert_up+expert_down";
constexpr std::array expert_roles = {
    Role{"gate_proj", "expert_gate_up"},
    Role{"up_proj", "expert_gate_up|expert_up"},
    Role{"gate_up_proj", "expert_gate_up"},
    Role{"down_proj", "expert_down"},
    Role{"w1", "expert_gate_up|expert_up"},
    Role{"w3", "expert_gate_up"},
    Role{"w2", "expert_down"},
    Role{"experts", whole_experts},
};
constexpr std::array other_roles = {
    Role{"gate", "router"},
    Role{"router", "router"},
    Role{"shared_expert_gate", "shared_expert_gate"},
    Role{"lm_head", "lm_head"},
    Role{"embed_out", "lm_head"},
};

std::optional<std::int32_t> find(const OperatorGraph& graph,
                                 const std::vector<std::int32_t>& candidates,
                                 std::string_view name) {
  for (const std::int32_t i : candidates) {
    if (graph.operators[as_size(i)].name == name) return i;
  }
  return std::nullopt;
}

// The first set of `text` of which all are there.
Binding first_set(std::string_view text, std::string_view prefix, const OperatorGraph& graph,
                  const std::vector<std::int32_t>& candidates) {
  while (!text.empty()) {
    const std::size_t bar = std::min(text.find('|'), text.size());
    std::string_view set = text.substr(0, bar);
    text.remove_prefix(std::min(bar + 1, text.size()));
    Binding out;
    bool is_whole = true;
    while (!set.empty()) {
      const std::size_t plus = std::min(set.find('+'), set.size());
      const auto index =
          find(graph, candidates, std::string(prefix) + std::string(set.substr(0, plus)));
      is_whole = is_whole && index.has_value();
      if (index) out.push_back(*index);
      set.remove_prefix(std::min(plus + 1, set.size()));
    }
    if (is_whole) return out;
  }
  return {};
}

Binding by_role(std::span<const Role> roles, std::string_view leaf, std::string_view prefix,
                const OperatorGraph& graph, const std::vector<std::int32_t>& candidates) {
  for (const Role& role : roles) {
    if (role.leaf != leaf) continue;
    Binding out = first_set(role.operators, prefix, graph, candidates);
    if (!out.empty()) return out;
  }
  return {};
}

Binding attention_operators(const OperatorGraph& graph,
                            const std::vector<std::int32_t>& candidates) {
  Binding out;
  for (const std::int32_t i : candidates) {
    const Operator& op = graph.operators[as_size(i)];
    const bool is_score = op.kind == OperatorKind::attention && op.local_work.matmul_flops > 0;
    if (is_score && op.local.op != "index_score") out.push_back(i);
  }
  return out;
}

// The innermost part of a layer that has names of its own for its linears.
ModuleKind part_of(const ScopeTree& scopes, std::uint32_t scope) {
  for (; scope != 0; scope = scopes[scope].parent) {
    switch (scopes[scope].kind) {
      case ModuleKind::recurrence:
      case ModuleKind::indexer:
      case ModuleKind::compressor:
      case ModuleKind::hyper_connection:
      case ModuleKind::attention:
        return scopes[scope].kind;
      default:
        break;
    }
  }
  return ModuleKind::other;
}

// Scores of the indexer reduce over its width; what reduces over its heads weights them.
bool is_index_score(const OperatorCost& cost, const OperatorGraph& graph) {
  return cost.matmul && graph.spec.indexer && cost.matmul->k == graph.spec.indexer->dim;
}

bool has_part(std::string_view path, std::string_view part) {
  return path.find(part) != std::string_view::npos;
}

}  // namespace

std::vector<std::int32_t> operators_at(const OperatorGraph& graph, std::int32_t layer) {
  std::vector<std::int32_t> out;
  const auto add = [&](std::optional<std::int32_t> type) {
    if (!type) return;
    const auto& more = graph.layer_types[as_size(*type)].operators;
    append_all(out, more);
  };
  if (layer < 0) {
    add(graph.embedding_type);
    add(graph.head_type);
  } else if (as_size(layer) < graph.layers.size()) {
    add(graph.layers[as_size(layer)]);
  }
  return out;
}

bool is_recurrence(const Operator& op) {
  return op.local.op == "delta_rule" || op.local.op == "state_scan" ||
         op.local.op == "selective_scan";
}

std::string explain_product(const ScopeTree& scopes, const OperatorRow& row,
                            const OperatorCost& cost, const OperatorGraph& graph) {
  const Scope& scope = scopes[row.scope];
  if (scope.kind == ModuleKind::rotary) return explain(scopes, row, graph);
  if (scope.kind == ModuleKind::recurrence) return "layer: recurrence and short convolution";
  if (scope.kind == ModuleKind::indexer && graph.spec.indexer && !is_index_score(cost, graph)) {
    return "layer: weighted sum over the heads of the indexer";
  }
  if (!graph.spec.compressed) return {};
  if (scope.kind == ModuleKind::layer) return "layer: streams of hyper-connections";
  if (scope.kind == ModuleKind::hyper_connection && scope.layer < 0) {
    return "streams of hyper-connections";
  }
  return {};
}

Binding bind_product(const ScopeTree& scopes, const OperatorRow& row, const OperatorCost& cost,
                     const OperatorGraph& graph, const std::vector<std::int32_t>& candidates) {
  const Scope& scope = scopes[row.scope];
  if (row.of == OperatorClass::attention) return attention_operators(graph, candidates);
  if (row.of == OperatorClass::experts) {
    return first_set(whole_experts, "", graph, candidates);
  }
  const ModuleKind part = part_of(scopes, row.scope);
  if (part == ModuleKind::recurrence) {
    return by_role(recurrence_roles, scope.leaf, "", graph, candidates);
  }
  if (part == ModuleKind::compressor) {
    return by_role(compressor_roles, scope.leaf, "", graph, candidates);
  }
  if (part == ModuleKind::hyper_connection) {
    return by_role(hyper_connection_roles, scope.leaf, "", graph, candidates);
  }
  if (part == ModuleKind::indexer) {
    if (scope.kind == ModuleKind::indexer) {
      if (!is_index_score(cost, graph)) return {};
      return first_set("index_score", "", graph, candidates);
    }
    return by_role(indexer_roles, scope.leaf, "", graph, candidates);
  }
  if (part == ModuleKind::attention) {
    Binding out = by_role(attention_roles, scope.leaf, "", graph, candidates);
    if (!out.empty()) return out;
    // Products that the attention module computes itself are scores and weighted sums.
    if (scope.kind == ModuleKind::attention) return attention_operators(graph, candidates);
    return {};
  }
  Binding out = by_role(other_roles, scope.leaf, "", graph, candidates);
  if (!out.empty()) return out;
  const bool is_shared = has_part(scope.path, "shared_expert");
  const bool is_expert = !is_shared && has_part(scope.path, "experts");
  if (is_expert) return by_role(expert_roles, scope.leaf, "", graph, candidates);
  return by_role(mlp_roles, scope.leaf, is_shared ? "shared_" : "", graph, candidates);
}

std::string explain(const ScopeTree& scopes, const OperatorRow& row, const OperatorGraph& graph) {
  if (row.of == OperatorClass::communication) {
    return graph.configuration.parallel.devices() > 1 ? "communication" : "";
  }
  if (row.of == OperatorClass::unknown) return {};
  if (row.of == OperatorClass::lookup) return "embedding";
  const Scope& scope = scopes[row.scope];
  const std::string layer = scope.layer < 0 ? "" : "layer: ";
  switch (scope.kind) {
    case ModuleKind::norm:
      return layer + "norm";
    case ModuleKind::rotary:
      return "rope tables";
    case ModuleKind::activation:
    case ModuleKind::mlp:
      return layer + "activation";
    case ModuleKind::attention:
      return layer + "rope, cache and masks of attention";
    case ModuleKind::layer:
      return layer + "residual_add";
    case ModuleKind::moe:
    case ModuleKind::experts:
    case ModuleKind::router:
      return layer + "routing of experts";
    case ModuleKind::linear:
      return layer + "bias, cast or scale of a linear layer";
    case ModuleKind::embedding:
      return "embedding";
    case ModuleKind::recurrence:
      return layer + "recurrence and short convolution";
    case ModuleKind::indexer:
      return layer + "choice of keys";
    case ModuleKind::compressor:
      return layer + "compressed entries of the cache";
    case ModuleKind::hyper_connection:
      return layer + "streams of hyper-connections";
    case ModuleKind::other:
      break;
  }
  // Around the layers: positions, masks, casts, the choice of the next token.
  return scope.layer < 0 ? "inputs and outputs" : "";
}

}  // namespace halmark::trace
