// StarCoder2: LayerNorm, biases on every linear, gelu between two matrices, head and embedding in
// one table.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_starcoder2(ConfigReader& config, ModelSpec& spec) {
  config.set_default("tie_word_embeddings", true);
  config.ignore({"norm_type", "mlp_type"});  // layer_norm and default in every published file
  decoder::read_shape(config, spec);
  decoder::read_rotary(config, spec);
  decoder::read_windows(config, spec, true);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "gelu_pytorch_tanh");
  spec.norm = NormKind::layer;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = config.flag("use_bias").value_or(true);
}

}  // namespace

extern const Family starcoder2_family = {
    "starcoder2", {"starcoder2"}, &read_starcoder2, &dense::build};

}  // namespace halmark
