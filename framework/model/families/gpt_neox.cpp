// GPT-NeoX and Pythia: LayerNorm, biases on every linear but the head, partly rotated heads, gelu
// between two matrices; attention and network side by side behind a norm each.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_gpt_neox(ConfigReader& config, ModelSpec& spec) {
  config.also_named("partial_rotary_factor", "rotary_pct");
  decoder::read_shape(config, spec);
  decoder::read_rotary(config, spec);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "gelu");
  spec.norm = NormKind::layer;
  spec.is_parallel = spec.parallel_norms = config.flag("use_parallel_residual").value_or(true);
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(true);
  spec.mlp_bias = true;
}

}  // namespace

extern const Family gpt_neox_family = {"gpt_neox", {"gpt_neox"}, &read_gpt_neox, &dense::build};

}  // namespace halmark
