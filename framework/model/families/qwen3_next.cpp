// Qwen3-Next and Qwen3.5: gated DeltaNet in three layers of four, attention with an output gate and
// q/k norm in the fourth; dense, or experts beside a gated shared one.
#include <string>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "model/families/dense.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

std::string named_qwen3_next(std::int64_t value) { return std::to_string(value); }

void read_delta_rule_qwen3_next(const ConfigReader& config, ModelSpec& spec) {
  DeltaRuleSpec& delta = spec.delta_rule.emplace();
  delta.key_heads = config.required_size("linear_num_key_heads");
  delta.key_dim = config.required_size("linear_key_head_dim");
  delta.value_heads = config.required_size("linear_num_value_heads");
  delta.value_dim = config.required_size("linear_value_head_dim");
  delta.kernel = config.required_size("linear_conv_kernel_dim");
  if (delta.value_heads % delta.key_heads != 0) {
    config.refuse("linear_num_key_heads", "is " + named_qwen3_next(delta.key_heads) +
                                              ", which does not divide linear_num_value_heads " +
                                              named_qwen3_next(delta.value_heads));
  }
  const std::string type = config.text("mamba_ssm_dtype").value_or("float32");
  const auto dtype = parse_dtype(type == "float32" ? "f32" : type);
  if (!dtype) config.refuse("mamba_ssm_dtype", "is '" + printable(type) + "', no known type");
  delta.state_dtype = *dtype;
}

// Every full_attention_interval-th layer attends, unless the layers are listed.
void read_mixers_qwen3_next(ConfigReader& config, ModelSpec& spec) {
  const auto types =
      decoder::read_layer_types(config, spec, {"linear_attention", "full_attention"});
  config.ignore({"full_attention_interval"});
  const std::int64_t interval = types ? 1 : config.size_or("full_attention_interval", 4);
  spec.mixers = decoder::uniform_mixers(spec);
  for (const auto i : indices(spec.mixers)) {
    const bool is_linear =
        types ? (*types)[i] == "linear_attention" : (as_int64(i) + 1) % interval != 0;
    if (is_linear) spec.mixers[i] = {.kind = Mixer::delta_rule};
  }
}

bool has_experts(const ConfigReader& config, const ModelSpec& spec) {
  return spec.architecture == "qwen3_next" ? config.is_set("num_experts")
                                           : spec.architecture.starts_with("qwen3_5_moe");
}

void read_experts_qwen3_next(ConfigReader& config, ModelSpec& spec) {
  moe::read_experts(config, spec, "num_experts", "moe_intermediate_size");
  moe::read_sparse_layers(config, spec);
  spec.moe->shared_width = config.required_size("shared_expert_intermediate_size");
  spec.moe->shared_gate = true;
  spec.moe->renormalize = config.flag_or("norm_topk_prob", true);
}

void read_qwen3_next(ConfigReader& config, ModelSpec& spec) {
  if (config.has("attn_output_gate") && !config.is_set("attn_output_gate")) {
    config.refuse("attn_output_gate", "is false: attention without its gate is not modelled");
  }
  decoder::default_rotary_share(config, 0.25);
  decoder::read_sizes(config, spec);
  read_delta_rule_qwen3_next(config, spec);
  read_mixers_qwen3_next(config, spec);
  if (has_experts(config, spec)) {
    read_experts_qwen3_next(config, spec);
  } else {
    dense::read_width(config, spec);
  }
  if (config.flag("mtp_use_dedicated_embeddings").value_or(false)) {
    config.refuse("mtp_use_dedicated_embeddings",
                  "is true; prediction modules that share the embedding are modelled");
  }
  const bool has_bias = config.flag("attention_bias").value_or(false);
  spec.qkv_bias = spec.o_bias = has_bias;
  spec.qk_norm = true;
  spec.output_gate = true;
}

void build_qwen3_next(const ModelSpec& spec, GraphBuilder& b) {
  if (spec.moe) return moe::build(spec, b);
  dense::build(spec, b);
}

// Attention and the network of the last layer, with embedding and head of the model.
void predict_qwen3_next(const ModelSpec& spec, GraphBuilder& b) {
  (spec.moe ? moe::predict : dense::predict)(spec, b);
}

}  // namespace

extern const Family qwen3_next_family = {
    "qwen3_next",
    {"qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text"},
    &read_qwen3_next,
    &build_qwen3_next,
    &predict_qwen3_next};

}  // namespace halmark
