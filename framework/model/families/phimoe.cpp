// Phi-3.5-MoE: experts in every layer and LayerNorm; biases of linears only where the configuration
// says so.

#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_phimoe(ConfigReader& config, ModelSpec& spec) {
  moe::refuse_unmodelled(config, {});
  decoder::read_sizes(config, spec);
  decoder::read_windows(config, spec, true);
  moe::read_experts(config, spec, "num_local_experts", "intermediate_size");
  spec.moe->renormalize = false;
  const bool has_bias = config.flag_or("attention_bias", false);
  spec.qkv_bias = spec.o_bias = has_bias;
  spec.norm = NormKind::layer;
  spec.head_bias = config.flag_or("lm_head_bias", false);
}

}  // namespace

extern const Family phimoe_family = {"phimoe", {"phimoe"}, &read_phimoe, &moe::build};

}  // namespace halmark
