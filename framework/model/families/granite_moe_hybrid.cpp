// Granite 4: Mamba-2 in most layers or in none, attention with or without rotation in the others,
// and in every layer a network that all tokens pass, alone or beside routed experts.

#include "core/lists.hpp"
#include "model/families/dense.hpp"
#include "model/families/mixers.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_mixers_granite(ConfigReader& config, ModelSpec& spec) {
  spec.mixers = decoder::uniform_mixers(spec);
  const auto types = decoder::read_layer_types(
      config, spec, {"mamba", "attention", "linear_attention", "full_attention"});
  bool has_mamba = false;
  for (const auto i : indices(spec.mixers)) {
    const bool attends = types && (*types)[i].ends_with("attention") && (*types)[i][0] != 'l';
    if (!attends) spec.mixers[i] = {.kind = Mixer::state_space};
    has_mamba = has_mamba || !attends;
  }
  if (has_mamba) mixers::read_state_space(config, spec);
}

// Without experts the shared network is the only one.
void read_networks_granite(ConfigReader& config, ModelSpec& spec) {
  const std::int64_t shared = config.required_size("shared_intermediate_size");
  if (config.count("num_local_experts").value_or(0) == 0) {
    spec.intermediate = shared;
    return config.ignore({"intermediate_size", "num_experts_per_tok"});
  }
  moe::read_experts(config, spec, "num_local_experts", "intermediate_size");
  spec.moe->shared_width = shared;
}

void read_granite_moe_hybrid(ConfigReader& config, ModelSpec& spec) {
  decoder::read_shape(config, spec);
  decoder::read_gate(config, spec);
  if (config.is_text("position_embedding_type", "rope")) decoder::read_rotary(config, spec);
  read_networks_granite(config, spec);
  read_mixers_granite(config, spec);
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
  config.ignore({"mamba_d_conv", "mamba_d_head", "mamba_d_state", "mamba_expand", "mamba_n_groups",
                 "mamba_n_heads", "mamba_conv_bias", "mamba_proj_bias", "normalization_function",
                 "init_method"});
}

void build_granite_moe_hybrid(const ModelSpec& spec, GraphBuilder& b) {
  (spec.moe ? moe::build : dense::build)(spec, b);
}

}  // namespace

extern const Family granite_moe_hybrid_family = {"granite_moe_hybrid",
                                                 {"granitemoehybrid"},
                                                 &read_granite_moe_hybrid,
                                                 &build_granite_moe_hybrid};

}  // namespace halmark
