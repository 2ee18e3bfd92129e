// DBRX: experts in every layer, LayerNorm without a shift. The configuration nests its sizes.

#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_dbrx(ConfigReader& config, ModelSpec& spec) {
  config.also_named("num_hidden_layers", "n_layers");
  config.also_named("hidden_size", "d_model");
  config.also_named("num_attention_heads", "n_heads");
  config.also_named("max_position_embeddings", "max_seq_len");
  config.also_named("num_key_value_heads", "attn_config.kv_n_heads");
  config.also_named("intermediate_size", "ffn_config.ffn_hidden_size");
  config.also_named("num_local_experts", "ffn_config.moe_num_experts");
  config.also_named("num_experts_per_tok", "ffn_config.moe_top_k");
  moe::refuse_unmodelled(config, {});
  decoder::read_sizes(config, spec);
  moe::read_experts(config, spec, "num_local_experts", "intermediate_size");
  spec.norm = NormKind::layer_without_shift;
}

}  // namespace

extern const Family dbrx_family = {"dbrx", {"dbrx"}, &read_dbrx, &moe::build};

}  // namespace halmark
