// Persimmon, and the text side of Fuyu: LayerNorm, with biases on every linear, on every head of q
// and k too; squared ReLU between two matrices; half of every head rotates.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_persimmon(ConfigReader& config, ModelSpec& spec) {
  decoder::default_rotary_share(config, 0.5);
  decoder::read_shape(config, spec);
  decoder::read_rotary(config, spec);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "relu2");
  spec.norm = spec.qk_norm_kind = NormKind::layer;
  spec.qk_norm = config.flag("qk_layernorm").value_or(true);
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = true;
}

}  // namespace

extern const Family persimmon_family = {
    "persimmon", {"persimmon", "fuyu"}, &read_persimmon, &dense::build};

}  // namespace halmark
