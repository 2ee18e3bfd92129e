// Phi-1.5 and Phi-2: attention and a plain network side by side behind one LayerNorm, biases on
// every linear, the head included, partly rotated heads.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_phi(ConfigReader& config, ModelSpec& spec) {
  if (config.is_set("qk_layernorm")) {
    config.refuse("qk_layernorm", "is set: LayerNorm on q and k is not modelled");
  }
  decoder::default_rotary_share(config, 0.5);
  decoder::read_shape(config, spec);
  decoder::read_rotary(config, spec);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "gelu_new");
  spec.norm = NormKind::layer;
  spec.is_parallel = config.flag("parallel_block").value_or(true);
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = spec.head_bias = true;
}

}  // namespace

extern const Family phi_family = {"phi", {"phi"}, &read_phi, &dense::build};

}  // namespace halmark
