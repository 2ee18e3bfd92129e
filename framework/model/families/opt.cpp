// OPT and BioGPT: LayerNorm, learned positions behind two unused ones, biases on every linear, two
// matrices per network, head and embedding in one table. XGLM computes its positions.
#include <string>

#include "model/families/dense.hpp"

namespace halmark {

namespace {

constexpr std::int64_t unused_positions = 2;

void read_variants_opt(const ConfigReader& config, ModelSpec& spec) {
  const std::int64_t projected = config.size("word_embed_proj_dim").value_or(spec.hidden);
  if (projected != spec.hidden) spec.embedding_width = projected;
  spec.pre_norms = spec.final_norm = config.flag("do_layer_norm_before").value_or(true);
  spec.post_norms = !spec.pre_norms;
}

void read_opt(ConfigReader& config, ModelSpec& spec) {
  config.also_named("intermediate_size", "ffn_dim");
  config.also_named("hidden_act", "activation_function");
  config.also_named("hidden_size", "d_model");
  config.also_named("num_hidden_layers", "num_layers");
  config.also_named("num_attention_heads", "attention_heads");
  config.set_default("tie_word_embeddings", true);
  decoder::read_shape(config, spec);
  read_variants_opt(config, spec);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, spec.architecture == "opt" ? "relu" : "gelu");
  const std::int64_t positions = config.required_size("max_position_embeddings");
  if (spec.architecture != "xglm") {
    spec.learned_positions =
        config.size("learned_positions").value_or(positions + unused_positions);
  }
  config.ignore({"scale_embedding"});
  spec.norm = NormKind::layer;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = config.flag("enable_bias").value_or(true);
}

}  // namespace

extern const Family opt_family = {"opt", {"opt", "xglm", "biogpt"}, &read_opt, &dense::build};

}  // namespace halmark
