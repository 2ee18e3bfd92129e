// Diffusion language models: LLaDA (Llama's layers under OLMo's names), Dream (Qwen2's) and SDAR
// (Qwen3's). A step is one denoising pass over all new tokens, each of which sees all others; an
// answer takes as many passes per block as its steps say.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void name_as_olmo(ConfigReader& config) {
  config.also_named("num_hidden_layers", "n_layers");
  config.also_named("hidden_size", "d_model");
  config.also_named("num_attention_heads", "n_heads");
  config.also_named("num_key_value_heads", "n_kv_heads");
  config.also_named("intermediate_size", "mlp_hidden_size");
  config.also_named("max_position_embeddings", "max_sequence_length");
  config.also_named("tie_word_embeddings", "weight_tying");
  config.also_named("hidden_act", "activation_type");
  config.ignore({"alibi",
                 "alibi_bias_max",
                 "attention_layer_norm",
                 "attention_layer_norm_with_affine",
                 "bias_for_layer_norm",
                 "block_group_size",
                 "flash_attention",
                 "input_emb_norm",
                 "layer_norm_type",
                 "layer_norm_with_affine",
                 "mlp_ratio",
                 "multi_query_attention",
                 "rope",
                 "rope_full_precision",
                 "scale_logits",
                 "precision",
                 "include_bias",
                 "mask_token_id",
                 "init_cutoff_factor",
                 "init_fn",
                 "layer_norm_eps"});
}

// The table has as many rows as `embedding_size` says.
void read_llada(ConfigReader& config, ModelSpec& spec) {
  for (const char* field : {"alibi", "attention_layer_norm", "input_emb_norm"}) {
    if (config.is_set(field)) config.refuse(field, "is true, which is not modelled");
  }
  if (!config.is_text("block_type", "llama") && config.has("block_type")) {
    config.refuse("block_type", "is not 'llama', which is modelled");
  }
  spec.vocab = config.size("embedding_size").value_or(spec.vocab);
  const bool has_bias = config.flag("include_bias").value_or(false);
  spec.qkv_bias = has_bias || config.flag("include_qkv_bias").value_or(false);
  spec.o_bias = spec.mlp_bias = has_bias;
}

void read_diffusion(ConfigReader& config, ModelSpec& spec) {
  const bool is_llada = spec.architecture == "llada";
  if (is_llada) name_as_olmo(config);
  dense::read_sizes(config, spec);
  config.ignore({"mask_token_id", "block_size", "use_sliding_window", "sliding_window",
                 "max_window_layers", "full_attn_interval"});
  if (is_llada) {
    read_llada(config, spec);
  } else if (spec.architecture == "Dream") {
    spec.qkv_bias = true;
  } else {
    spec.qk_norm = true;
    spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
  }
  spec.is_causal = false;
  config.assume(
      "a step is one denoising pass over its new tokens; an answer takes the passes per "
      "block that its sampler is set to");
}

}  // namespace

extern const Family diffusion_family = {
    "diffusion", {"llada", "Dream", "sdar"}, &read_diffusion, &dense::build};

}  // namespace halmark
