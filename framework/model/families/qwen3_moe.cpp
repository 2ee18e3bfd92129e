// Qwen3-MoE and the language tower of Qwen3-VL-MoE: RMSNorm on each q and k head, no shared expert.

#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_qwen3_moe(ConfigReader& config, ModelSpec& spec) {
  config.also_named("num_experts", "num_local_experts");
  moe::refuse_unmodelled(config, {"decoder_sparse_step", "mlp_only_layers"});
  decoder::read_sizes(config, spec);
  decoder::read_windows(config, spec, false);
  moe::read_experts(config, spec, "num_experts", "moe_intermediate_size");
  moe::read_sparse_layers(config, spec);
  spec.moe->renormalize = config.flag_or("norm_topk_prob", false);
  const bool has_bias = config.flag("attention_bias").value_or(false);
  spec.qk_norm = config.flag("use_qk_norm").value_or(true);
  spec.qkv_bias = has_bias;
  spec.o_bias = has_bias;
}

}  // namespace

extern const Family qwen3_moe_family = {
    "qwen3_moe",
    {"qwen3_moe", "qwen3_vl_moe", "qwen3_vl_moe_text", "qwen3_omni_moe_text"},
    &read_qwen3_moe,
    &moe::build};

}  // namespace halmark
