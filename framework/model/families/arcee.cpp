// AFM of Arcee: Llama's decoder with relu squared between two matrices.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_arcee(ConfigReader& config, ModelSpec& spec) {
  decoder::read_shape(config, spec);
  decoder::read_rotary(config, spec);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "relu2");
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
  spec.mlp_bias = config.flag("mlp_bias").value_or(false);
}

}  // namespace

extern const Family arcee_family = {"arcee", {"arcee"}, &read_arcee, &dense::build};

}  // namespace halmark
