// Kimi Linear (2510.26692): Kimi Delta Attention in three layers of four, latent attention without
// rotation in the fourth and the last; the first layer dense, then routed and shared experts.
#include <array>
#include <string>
#include <vector>

#include "model/families/latent.hpp"

namespace halmark {

namespace {

constexpr std::array<std::string_view, 1> kimi_linear_types = {"kimi_linear"};

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
      const auto index = static_cast<std::size_t>(layer - 1);
      ++listed[index];
      if (kind == Mixer::delta_rule) spec.mixers[index] = {.kind = kind};
    }
  }
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (listed[i] == 1) continue;
    config.refuse("linear_attn_config", "lists layer " + std::to_string(i + 1) + ' ' +
                                            std::to_string(listed[i]) + " times; once is expected");
  }
}

// Both low ranks are a head wide.
void read_delta_rule_kimi_linear(ConfigReader& config, ModelSpec& spec) {
  if (config.is_set("linear_attn_config.use_full_rank_gate")) {
    config.refuse("linear_attn_config.use_full_rank_gate",
                  "is true; gates of low rank are modelled");
  }
  DeltaRuleSpec& delta = spec.delta_rule.emplace();
  delta.key_heads = delta.value_heads = config.required_size("linear_attn_config.num_heads");
  delta.key_dim = delta.value_dim = config.required_size("linear_attn_config.head_dim");
  delta.kernel = config.required_size("linear_attn_config.short_conv_kernel_size");
  delta.gate_rank = delta.key_dim;
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
  if (config.is_set("attn_res_block_size")) {
    config.refuse("attn_res_block_size",
                  "is set; residuals over blocks of layers are not modelled");
  }
  latent::read(config, spec, {"linear_attn_config", "num_shared_experts"});
  spec.latent->has_rotary = !config.flag("mla_use_nope").value_or(false);
  read_delta_rule_kimi_linear(config, spec);
  read_mixers_kimi_linear(config, spec);
}

}  // namespace

extern const Family kimi_linear_family;
const Family kimi_linear_family = {"kimi_linear", kimi_linear_types, &read_kimi_linear,
                                   &latent::build};

}  // namespace halmark
