#include "model/step/reference_json.hpp"

#include <string>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "model/step/step_answer.hpp"

namespace halmark {
namespace {

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

// attention, moe, ffn, embed, residual, norm: the words of that tool; ours where it has none.
std::string category_of(const Operator& op) {
  switch (op.kind) {
    case OperatorKind::embedding:
    case OperatorKind::head:
      return "embed";
    case OperatorKind::attention:
      return "attention";
    case OperatorKind::routing:
    case OperatorKind::experts:
      return "moe";
    case OperatorKind::norm:
      return "norm";
    case OperatorKind::elementwise:
      return "residual";
    case OperatorKind::linear:
      if (has(op.name, "expert") || has(op.name, "router")) return "moe";
      if (has(op.name, "gate_") || has(op.name, "up_proj") || has(op.name, "down_")) return "ffn";
      return "attention";
    case OperatorKind::quantize:
    case OperatorKind::collective:
      break;
  }
  return std::string(operator_kind_name(op.kind));
}

// Operators of the type of the first layer, one execution each.
std::vector<std::size_t> template_layer(const OperatorGraph& graph) {
  std::vector<std::size_t> out;
  if (graph.layers.empty()) return out;
  const auto type = as_size(graph.layers.front());
  for (const std::int32_t i : graph.layer_types[type].operators) {
    out.push_back(as_size(i));
  }
  return out;
}

double flops_of_one(const PricedStep& step, std::size_t index) {
  const Operator& op = step.graph.operators[index];
  return op.count > 0 ? operator_figures(step, index).flops / as_double(op.count) : 0;
}

Json layer_template(const PricedStep& step) {
  Json out = Json::array();
  for (const std::size_t i : template_layer(step.graph)) {
    const Operator& op = step.graph.operators[i];
    out.push_back({{"name", op.name},
                   {"flops", flops_of_one(step, i)},
                   {"shape_in", op.shape_in},
                   {"shape_out", op.shape_out},
                   {"category", category_of(op)}});
  }
  return out;
}

// Empty without a device, as there. No operator was timed, so measured_us is null.
Json per_operator(const PricedStep& step) {
  Json out = Json::array();
  if (!step.device || !step.question.measured_ms) return out;
  double layer = 0;
  for (const std::size_t i : template_layer(step.graph)) layer += flops_of_one(step, i);
  for (const std::size_t i : template_layer(step.graph)) {
    const Operator& op = step.graph.operators[i];
    const auto peak = shard_peak(*step.device, op.dtype, step.share);
    const double flops = flops_of_one(step, i);
    out.push_back(
        {{"name", op.name},
         {"flops", flops},
         {"flops_per_gpu", op.rank_work.matmul_flops},
         {"theo_us", optional_number(peak ? std::optional(op.rank_work.matmul_flops / *peak * 1e6)
                                          : std::nullopt)},
         {"pct_of_layer", layer > 0 ? 100 * flops / layer : 0},
         {"category", category_of(op)},
         {"measured_us", nullptr}});
  }
  return out;
}

Json architecture(const ModelSpec& spec) {
  const bool is_moe = spec.moe.has_value();
  return {{"num_hidden_layers", spec.layers},
          {"hidden_size", spec.hidden},
          {"num_attention_heads", spec.heads},
          {"num_key_value_heads", spec.kv_heads},
          {"head_dim", spec.head_dim},
          {"attention_type", spec.latent ? "mla" : (spec.kv_heads < spec.heads ? "gqa" : "mha")},
          {"moe", is_moe},
          {"num_experts", is_moe ? spec.moe->experts : 0},
          {"num_experts_per_tok", is_moe ? spec.moe->top_k : 0},
          {"vocab_size", spec.vocab}};
}

}  // namespace

Json reference_json(const PricedStep& step) {
  const OperatorGraph& g = step.graph;
  const Workload& w = g.configuration.workload;
  const Parallel& p = g.configuration.parallel;
  double outside = 0;
  for (const Operator& op : g.operators) {
    if (op.kind == OperatorKind::embedding || op.kind == OperatorKind::head) {
      outside += op.matmul_flops;
    }
  }
  std::optional<double> mfu;
  if (step.question.measured_ms) mfu = utilisation_of(step).model;
  const Json percent = optional_number(mfu ? std::optional(100 * *mfu) : std::nullopt);
  // No layer was timed: a per-layer figure from the step alone would be invented.
  return {{"model", g.spec.id},
          {"config_source", g.spec.source},
          {"batch_size", w.batch},
          {"seq_len", w.new_tokens},
          {"tp", p.tp},
          {"dp", p.dp},
          {"ep", p.ep},
          {"gpu", step.device ? step.device->id : ""},
          {"dtype", g.configuration.precision.name},
          {"total_flops", step.totals().matmul_flops},
          {"embed_flops", outside},
          {"layer_template", layer_template(step)},
          {"num_layers", g.layers.size()},
          {"measured_ms", optional_number(step.question.measured_ms)},
          {"mfu_pct", percent},
          {"per_layer_mfu_pct", nullptr},
          {"per_op_mfu", per_operator(step)},
          {"model_arch", architecture(g.spec)}};
}

}  // namespace halmark
