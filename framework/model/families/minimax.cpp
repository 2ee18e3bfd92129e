// MiniMax-Text-01 and M1: linear attention with a decay of each head (2501.08313) in seven layers
// of eight, attention in the eighth, experts in all.

#include "core/numeric/cast.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

// "layer_types", or 1 for a layer that attends.
std::vector<bool> attending_layers(const ConfigReader& config, const ModelSpec& spec) {
  std::vector<bool> out;
  const auto types =
      decoder::read_layer_types(config, spec, {"linear_attention", "full_attention"});
  if (types) {
    for (const std::string& type : *types) out.push_back(type == "full_attention");
    return out;
  }
  const auto listed = config.counts("attn_type_list").value_or(std::vector<std::int64_t>{});
  decoder::check_layer_count(config, spec, "attn_type_list", listed.size());
  for (const std::int64_t attends : listed) out.push_back(attends != 0);
  return out;
}

void read_minimax(ConfigReader& config, ModelSpec& spec) {
  decoder::read_sizes(config, spec);
  if (config.has("rotary_dim")) decoder::read_rotary_dim(config, spec);
  moe::read_experts(config, spec, "num_local_experts", "intermediate_size");
  spec.moe->shared_width = config.count("shared_intermediate_size").value_or(0);
  spec.state_space = StateSpaceSpec{.heads = spec.heads,
                                    .head_dim = spec.head_dim,
                                    .state_dim = spec.head_dim,
                                    .groups = spec.heads,
                                    .is_linear_attention = true};
  spec.mixers = decoder::uniform_mixers(spec);
  const std::vector<bool> attends = attending_layers(config, spec);
  for (std::size_t i = 0; i < attends.size(); ++i) {
    if (!attends[i]) spec.mixers[i] = {.kind = Mixer::state_space};
  }
  config.ignore({"block_size", "postnorm", "shared_moe_mode", "full_attn_alpha_factor",
                 "full_attn_beta_factor", "linear_attn_alpha_factor", "linear_attn_beta_factor",
                 "mlp_alpha_factor", "mlp_beta_factor", "layernorm_full_attention_alpha",
                 "layernorm_full_attention_beta", "layernorm_linear_attention_alpha",
                 "layernorm_linear_attention_beta", "layernorm_mlp_alpha", "layernorm_mlp_beta",
                 "attention_type", "layer_norm_epsilon"});
}

}  // namespace

extern const Family minimax_family = {
    "minimax", {"minimax", "minimax_text_01", "minimax_m1"}, &read_minimax, &moe::build};

}  // namespace halmark
