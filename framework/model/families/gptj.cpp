// GPT-J and CodeGen: attention without biases and a plain network with them side by side behind one
// LayerNorm; 64 columns of a head rotate; a bias on the head.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_gptj(ConfigReader& config, ModelSpec& spec) {
  dense::name_as_gpt(config);
  decoder::read_shape(config, spec);
  config.set_default("rotary_dim", 64);
  decoder::read_rotary_dim(config, spec);
  config.set_default("intermediate_size", 4 * spec.hidden);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "gelu_new");
  spec.norm = NormKind::layer;
  spec.is_parallel = true;
  config.ignore({"n_ctx"});
  spec.mlp_bias = spec.head_bias = true;
}

}  // namespace

extern const Family gptj_family = {"gptj", {"gptj", "codegen"}, &read_gptj, &dense::build};

}  // namespace halmark
