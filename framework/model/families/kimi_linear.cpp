// Kimi Linear (2510.26692): Kimi Delta Attention in three layers of four, latent attention without
// rotation in the fourth and the last; the first layer dense, then routed and shared experts.
#include <string>
#include <vector>

#include "core/lists.hpp"
#include "model/families/latent.hpp"

namespace halmark {

namespace {

// The configuration numbers layers from 1 and lists every one of them once, under its mixer.
void read_mixers_kimi_linear(ConfigReader& config, ModelSpec& spec) {
  spec.mixers = decoder::uniform_mixers(spec);
  std::vector<int> listed(spec.mixers.size(), 0);
  for (const auto& [field, kind] : {std::pair{"kda_layers", Mixer::delta_rule},
                                    std::pair{"full_attn_layers", Mixer::attention}}) {
    const std::string path = std::string("linear_attn_config.") + field;
    const auto layers = config.counts(path);
    if (!layers) config.refuse(path, "is missing; the numbers of its layers are expected");
    for (const std::int64_t layer : *layers) {
      if (layer < 1 || layer > spec.layers) {
        config.refuse(path, "lists layer " + std::to_string(layer) + ", which is not in 1.." +
                                std::to_string(spec.layers));
      }
      const auto index = as_size(layer - 1);
      ++listed[index];
      if (kind == Mixer::delta_rule) spec.mixers[index] = {.kind = kind};
    }
  }
  for (const auto i : indices(listed)) {
    if (listed[i] == 1) continue;
    config.refuse("linear_attn_config", "lists layer " + std::to_string(i + 1) + ' ' +
                                            std::to_string(listed[i]) + " times; once is expected");
  }
}

// Both low ranks are a head wide.
void read_delta_rule_kimi_linear(ConfigReader& config, ModelSpec& spec) {
  DeltaRuleSpec& delta = spec.delta_rule.emplace();
  delta.key_heads = delta.value_heads = config.required_size("linear_attn_config.num_heads");
  delta.key_dim = delta.value_dim = config.required_size("linear_attn_config.head_dim");
  delta.kernel = config.required_size("linear_attn_config.short_conv_kernel_size");
  delta.gate_rank = delta.key_dim;
  delta.has_full_gate = config.is_set("linear_attn_config.use_full_rank_gate");
}

// Kimi K3: experts in a narrower width, gates on latent attention, and residuals over blocks of
// layers, whose operators no published source states.
void read_k3(ConfigReader& config, ModelSpec& spec) {
  spec.moe->latent = config.size("routed_expert_hidden_size").value_or(0);
  spec.latent->output_gate = config.flag("mla_use_output_gate").value_or(false);
  config.ignore({"activation_situ_beta", "activation_situ_linear_beta",
                 "linear_attn_config.gate_lower_bound"});
  const auto unconfirmed = [&](const char* field, const char* what) {
    if (config.is_set(field)) spec.unconfirmed.push_back(std::string(what) + " (" + field + ")");
  };
  unconfirmed("routed_expert_hidden_size", "experts in a latent width");
  unconfirmed("mla_use_output_gate", "a gate on the output of latent attention");
  unconfirmed("linear_attn_config.use_full_rank_gate", "a gate of full rank");
  unconfirmed("latent_moe_use_norm", "a norm in the latent width, left out");
  unconfirmed("attn_res_block_size", "residuals over blocks of layers, left out");
}

void read_kimi_linear(ConfigReader& config, ModelSpec& spec) {
  config.also_named("max_position_embeddings", "model_max_length");
  config.also_named("n_routed_experts", "num_experts");
  config.also_named("num_experts_per_tok", "num_experts_per_token");
  config.also_named("n_shared_experts", "num_shared_experts");
  config.also_named("scoring_func", "moe_router_activation_func");
  config.also_named("norm_topk_prob", "moe_renormalize");
  config.set_default("scoring_func", "sigmoid");
  config.set_default("norm_topk_prob", true);
  latent::read(config, spec,
               {"linear_attn_config", "num_shared_experts", "mla_use_output_gate",
                "routed_expert_hidden_size"});
  read_k3(config, spec);
  spec.latent->has_rotary = !config.flag("mla_use_nope").value_or(false);
  read_delta_rule_kimi_linear(config, spec);
  read_mixers_kimi_linear(config, spec);
}

}  // namespace

extern const Family kimi_linear_family = {
    "kimi_linear", {"kimi_linear", "kimi_k3"}, &read_kimi_linear, &latent::build};

}  // namespace halmark
