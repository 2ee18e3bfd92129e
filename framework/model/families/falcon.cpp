// Falcon: LayerNorm and gelu between two matrices, attention and network side by side. Falcon 7B
// has one KV head and one norm; the newer decoder has KV heads of its own number and a norm for
// either side (40B, 180B) or one (Falcon 2); the first models (RW) have ALiBi and one after the
// other.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_kv_heads(ConfigReader& config, bool is_new) {
  const auto stated = config.size("num_kv_heads");
  const std::int64_t heads = config.required_size("num_attention_heads");
  const bool has_one = config.flag("multi_query").value_or(true);
  config.set_derived("num_key_value_heads", is_new ? stated.value_or(heads) : has_one ? 1 : heads);
}

void read_norms(const ConfigReader& config, ModelSpec& spec, bool is_new) {
  spec.norm = NormKind::layer;
  spec.is_parallel = config.flag("parallel_attn").value_or(true) || is_new;
  const std::int64_t norms = config.size("num_ln_in_parallel_attn").value_or(is_new ? 2 : 1);
  spec.parallel_norms = is_new && norms == 2;
}

void read_falcon(ConfigReader& config, ModelSpec& spec) {
  config.also_named("num_hidden_layers", "n_layer");
  config.also_named("num_attention_heads", "n_head");
  config.also_named("num_kv_heads", "n_head_kv");
  config.also_named("intermediate_size", "ffn_hidden_size");
  config.also_named("hidden_act", "activation");
  config.set_default("tie_word_embeddings", true);
  const bool is_new = config.flag("new_decoder_architecture").value_or(false);
  read_kv_heads(config, is_new);
  decoder::read_shape(config, spec);
  if (!config.flag("alibi").value_or(false)) decoder::read_rotary(config, spec);
  config.set_derived("intermediate_size",
                     config.size("intermediate_size").value_or(4 * spec.hidden));
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "gelu");
  read_norms(config, spec, is_new);
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = config.flag("bias").value_or(false);
}

}  // namespace

extern const Family falcon_family = {
    "falcon", {"falcon", "RefinedWebModel"}, &read_falcon, &dense::build};

}  // namespace halmark
