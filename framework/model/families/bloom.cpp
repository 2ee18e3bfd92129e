// BLOOM: ALiBi in the place of positions, LayerNorm with one behind the embedding, biases on every
// linear, four times the width between two matrices, head and embedding in one table.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_bloom(ConfigReader& config, ModelSpec& spec) {
  config.also_named("hidden_size", "n_embed");
  config.also_named("num_hidden_layers", "n_layer");
  config.also_named("num_attention_heads", "n_head");
  config.set_default("tie_word_embeddings", true);
  decoder::read_shape(config, spec);
  config.set_derived("intermediate_size", 4 * spec.hidden);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "gelu");
  spec.norm = NormKind::layer;
  spec.embedding_norm = true;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = true;
  if (config.is_set("apply_residual_connection_post_layernorm")) {
    config.ignore({"apply_residual_connection_post_layernorm"});  // which of two sums is kept
  }
  config.ignore({"slow_but_exact", "skip_bias_add", "skip_bias_add_qkv", "seq_length",
                 "offset_alibi", "bias_dropout_fusion", "masked_softmax_fusion",
                 "attention_softmax_in_fp32", "unk_token_id", "n_inner"});
}

}  // namespace

extern const Family bloom_family = {"bloom", {"bloom"}, &read_bloom, &dense::build};

}  // namespace halmark
