// Qwen2-MoE and Qwen1.5-MoE: biases on q, k and v, and a gated shared expert beside the routed
// ones.

#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_qwen2_moe(ConfigReader& config, ModelSpec& spec) {
  moe::refuse_unmodelled(
      config, {"shared_expert_intermediate_size", "decoder_sparse_step", "mlp_only_layers"});
  decoder::read_sizes(config, spec);
  decoder::read_windows(config, spec, false);
  moe::read_experts(config, spec, "num_experts", "moe_intermediate_size");
  moe::read_sparse_layers(config, spec);
  spec.moe->shared_width = config.required_size("shared_expert_intermediate_size");
  spec.moe->shared_gate = true;
  spec.moe->renormalize = config.flag_or("norm_topk_prob", false);
  spec.qkv_bias = config.flag_or("qkv_bias", true);
}

}  // namespace

extern const Family qwen2_moe_family = {"qwen2_moe", {"qwen2_moe"}, &read_qwen2_moe, &moe::build};

}  // namespace halmark
