// BitNet b1.58: relu squared on a gate, and a norm of its own in front of o_proj and of down_proj.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_bitnet(ConfigReader& config, ModelSpec& spec) {
  decoder::read_shape(config, spec);
  decoder::read_rotary(config, spec);
  dense::read_width(config, spec);
  // A gate whose activation is a square costs no more than one of silu.
  if (!config.is_text("hidden_act", "relu2") && config.has("hidden_act")) {
    decoder::read_gate(config, spec);
  }
  spec.inner_norms = true;
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
}

}  // namespace

extern const Family bitnet_family = {"bitnet", {"bitnet"}, &read_bitnet, &dense::build};

}  // namespace halmark
