// Apertus: two matrices with a learned activation (xIELU) between them, RMSNorm on each q and k
// head.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_activation_apertus(ConfigReader& config, ModelSpec& spec) {
  if (!config.is_text("hidden_act", "xielu") && config.has("hidden_act")) {
    return decoder::read_plain_activation(config, spec, "relu2");
  }
  spec.plain_activation = ActivationKind::gelu_tanh;  // an exponential per value, as gelu's
  spec.activation_scalars = 2;
}

void read_apertus(ConfigReader& config, ModelSpec& spec) {
  decoder::read_shape(config, spec);
  decoder::read_rotary(config, spec);
  dense::read_width(config, spec);
  read_activation_apertus(config, spec);
  if (config.flag("post_norm").value_or(false)) {
    config.refuse("post_norm", "is true; norms in front of attention and network are modelled");
  }
  spec.qk_norm = config.flag("qk_norm").value_or(true);
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
  spec.mlp_bias = config.flag("mlp_bias").value_or(false);
}

}  // namespace

extern const Family apertus_family = {"apertus", {"apertus"}, &read_apertus, &dense::build};

}  // namespace halmark
