// Nemotron-4 and Minitron: LayerNorm, relu squared between two matrices, half-rotated heads.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_nemotron(ConfigReader& config, ModelSpec& spec) {
  decoder::default_rotary_share(config, 0.5);
  decoder::read_shape(config, spec);
  decoder::read_rotary(config, spec);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "relu2");
  spec.norm = NormKind::layer;
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
  spec.mlp_bias = config.flag("mlp_bias").value_or(false);
}

}  // namespace

extern const Family nemotron_family = {"nemotron", {"nemotron"}, &read_nemotron, &dense::build};

}  // namespace halmark
