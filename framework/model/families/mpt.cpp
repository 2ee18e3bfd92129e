// MPT: ALiBi or learned positions, LayerNorm without a shift, no biases, gelu between two matrices,
// head and embedding in one table. The configuration nests what attention is.
#include <string>

#include "core/text/error.hpp"
#include "model/families/dense.hpp"

namespace halmark {

namespace {

void refuse_variants_mpt(const ConfigReader& config) {
  if (config.is_set("attn_config.qk_ln") || config.is_set("attn_config.qk_gn")) {
    config.refuse("attn_config.qk_ln", "is set: LayerNorm on q and k is not modelled");
  }
  const std::string type = config.text("ffn_config.ffn_type").value_or("mptmlp");
  if (type != "mptmlp") {
    config.refuse("ffn_config.ffn_type", "is '" + printable(type) + "'; known: mptmlp");
  }
}

// A configuration that says nothing of ALiBi is one of the released ones, which have it.
void read_positions(ConfigReader& config, ModelSpec& spec) {
  const bool is_learned = config.flag("learned_pos_emb").value_or(true);
  if (!config.has("attn_config.alibi") || config.is_set("attn_config.alibi")) return;
  if (!is_learned) {
    config.refuse("attn_config.alibi",
                  "is false, and learned_pos_emb too: rotated heads are not "
                  "modelled for this architecture");
  }
  spec.learned_positions = config.required_size("max_position_embeddings");
}

void read_mpt(ConfigReader& config, ModelSpec& spec) {
  config.also_named("num_hidden_layers", "n_layers");
  config.also_named("hidden_size", "d_model");
  config.also_named("num_attention_heads", "n_heads");
  config.also_named("num_key_value_heads", "attn_config.kv_n_heads");
  config.also_named("max_position_embeddings", "max_seq_len");
  config.set_default("tie_word_embeddings", true);
  refuse_variants_mpt(config);
  if (config.is_text("attn_config.attn_type", "multiquery_attention")) {
    config.set_default("num_key_value_heads", 1);
  }
  decoder::read_shape(config, spec);
  config.set_derived("intermediate_size", config.size("expansion_ratio").value_or(4) * spec.hidden);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "gelu");
  read_positions(config, spec);
  const bool has_bias = !config.flag("no_bias").value_or(true);
  spec.norm = has_bias ? NormKind::layer : NormKind::layer_without_shift;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = has_bias;
  config.ignore({"attn_config.attn_impl", "attn_config.attn_pdrop", "attn_config.softmax_scale",
                 "attn_config.attn_uses_sequence_id", "attn_config.alibi_bias_max", "norm_type",
                 "init_config", "attn_config.sliding_window_size"});
}

}  // namespace

extern const Family mpt_family = {"mpt", {"mpt"}, &read_mpt, &dense::build};

}  // namespace halmark
