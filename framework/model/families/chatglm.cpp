// ChatGLM 2 and 3 and GLM-4-9B as their repositories spell them, half of every head rotated; the
// first ChatGLM has heads of their own keys, LayerNorm and biases everywhere.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_first_chatglm(ConfigReader& config, ModelSpec& spec) {
  config.also_named("intermediate_size", "inner_hidden_size");
  config.also_named("max_position_embeddings", "max_sequence_length");
  config.set_default("tie_word_embeddings", true);
  decoder::read_shape(config, spec);
  decoder::read_rotary(config, spec);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "gelu");
  spec.norm = NormKind::layer;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = true;
  config.ignore({"position_encoding_2d", "quantization_bit", "quantization_embeddings",
                 "pre_seq_len", "prefix_projection", "use_cache"});
}

// A file whose `multi_query_attention` is off has as many KV heads as heads.
void read_kv_heads_chatglm(ConfigReader& config) {
  config.ignore({"multi_query_group_num"});
  if (!config.flag("multi_query_attention").value_or(false)) return;
  config.set_derived("num_key_value_heads", config.required_size("multi_query_group_num"));
}

void read_chatglm(ConfigReader& config, ModelSpec& spec) {
  config.also_named("num_hidden_layers", "num_layers");
  config.also_named("layer_norm_eps", "layernorm_epsilon");
  if (config.has("inner_hidden_size")) return read_first_chatglm(config, spec);
  config.also_named("intermediate_size", "ffn_hidden_size");
  config.also_named("head_dim", "kv_channels");
  config.also_named("vocab_size", "padded_vocab_size");
  config.also_named("max_position_embeddings", "seq_length");
  config.set_derived("partial_rotary_factor", 0.5);
  read_kv_heads_chatglm(config);
  dense::read_sizes(config, spec);
  if (!config.flag("rmsnorm").value_or(true)) spec.norm = NormKind::layer;
  spec.final_norm = config.flag("post_layer_norm").value_or(true);
  const bool has_bias = config.flag("add_bias_linear").value_or(false);
  spec.qkv_bias = has_bias || config.flag("add_qkv_bias").value_or(true);
  spec.o_bias = spec.mlp_bias = has_bias;
  config.ignore({"apply_query_key_layer_scaling", "apply_residual_connection_post_layernorm",
                 "bias_dropout_fusion", "fp32_residual_connection", "original_rope", "pre_seq_len",
                 "prefix_projection", "quantization_bit", "interleaved_qkv"});
}

}  // namespace

extern const Family chatglm_family = {"chatglm", {"chatglm"}, &read_chatglm, &dense::build};

}  // namespace halmark
