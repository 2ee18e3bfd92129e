// OPT: LayerNorm, learned positions behind two unused ones, biases on every linear, ReLU between
// two matrices, head and embedding in one table.
#include <string>

#include "model/families/dense.hpp"

namespace halmark {

namespace {

constexpr std::int64_t unused_positions = 2;

void refuse_variants_opt(const ConfigReader& config, const ModelSpec& spec) {
  const auto projected = config.size("word_embed_proj_dim");
  if (projected && *projected != spec.hidden) {
    config.refuse("word_embed_proj_dim", "is " + std::to_string(*projected) +
                                             " beside hidden_size " + std::to_string(spec.hidden) +
                                             ": projected embeddings are not modelled");
  }
  if (!config.flag("do_layer_norm_before").value_or(true)) {
    config.refuse("do_layer_norm_before", "is false: norms behind the layers are not modelled");
  }
}

void read_opt(ConfigReader& config, ModelSpec& spec) {
  config.also_named("intermediate_size", "ffn_dim");
  config.also_named("hidden_act", "activation_function");
  config.set_default("tie_word_embeddings", true);
  decoder::read_shape(config, spec);
  refuse_variants_opt(config, spec);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "relu");
  const std::int64_t positions = config.required_size("max_position_embeddings");
  spec.learned_positions = config.size("learned_positions").value_or(positions + unused_positions);
  spec.norm = NormKind::layer;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = config.flag("enable_bias").value_or(true);
}

}  // namespace

extern const Family opt_family = {"opt", {"opt"}, &read_opt, &dense::build};

}  // namespace halmark
