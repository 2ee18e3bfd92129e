#include "trace/bindings.hpp"

#include <algorithm>
#include <array>
#include <span>

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
    Role{"q_b_proj", "q_b_proj|q_proj"},
    Role{"kv_a_proj_with_mqa", "kv_a_proj|kv_proj"},
    Role{"fused_qkv_a_proj_with_mqa", "q_a_proj+kv_a_proj|q_a_proj+kv_proj"},
    Role{"kv_b_proj", "kv_b_proj|q_up+v_up"},
    Role{"o_proj", "o_proj"},
    Role{"out_proj", "o_proj|out_proj"},
    Role{"c_proj", "o_proj"},
    Role{"dense", "o_proj"},
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
constexpr std::array expert_roles = {
    Role{"gate_proj", "expert_gate_up"},
    Role{"up_proj", "expert_gate_up"},
    Role{"gate_up_proj", "expert_gate_up"},
    Role{"down_proj", "expert_down"},
    Role{"w1", "expert_gate_up"},
    Role{"w3", "expert_gate_up"},
    Role{"w2", "expert_down"},
    Role{"experts", "expert_gate_up+expert_down"},
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
    if (graph.operators[static_cast<std::size_t>(i)].name == name) return i;
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
    const Operator& op = graph.operators[static_cast<std::size_t>(i)];
    if (op.kind == OperatorKind::attention && op.local_work.matmul_flops > 0) out.push_back(i);
  }
  return out;
}

bool has_part(std::string_view path, std::string_view part) {
  return path.find(part) != std::string_view::npos;
}

}  // namespace

std::vector<std::int32_t> operators_at(const OperatorGraph& graph, std::int32_t layer) {
  std::vector<std::int32_t> out;
  const auto add = [&](std::optional<std::int32_t> type) {
    if (!type) return;
    const auto& more = graph.layer_types[static_cast<std::size_t>(*type)].operators;
    out.insert(out.end(), more.begin(), more.end());
  };
  if (layer < 0) {
    add(graph.embedding_type);
    add(graph.head_type);
  } else if (static_cast<std::size_t>(layer) < graph.layers.size()) {
    add(graph.layers[static_cast<std::size_t>(layer)]);
  }
  return out;
}

Binding bind_product(const ScopeTree& scopes, const OperatorRow& row, const OperatorGraph& graph,
                     const std::vector<std::int32_t>& candidates) {
  const Scope& scope = scopes[row.scope];
  if (row.of == OperatorClass::attention) return attention_operators(graph, candidates);
  if (row.of == OperatorClass::experts) {
    return first_set("expert_gate_up+expert_down", "", graph, candidates);
  }
  const std::uint32_t attention = scopes.enclosing(row.scope, ModuleKind::attention);
  if (attention != 0) {
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
    return graph.deployment.parallel.devices() > 1 ? "communication" : "";
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
    case ModuleKind::other:
      break;
  }
  // Around the layers: positions, masks, casts, the choice of the next token.
  return scope.layer < 0 ? "inputs and outputs" : "";
}

}  // namespace halmark::trace
