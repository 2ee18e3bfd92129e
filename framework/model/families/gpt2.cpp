// GPT-2 and GPT-3: LayerNorm, learned positions, biases on every linear, two matrices per
// feed-forward network, head and embedding in one table. The configuration has names of its own.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_gpt2(ConfigReader& config, ModelSpec& spec) {
  dense::name_as_gpt(config);
  config.set_default("tie_word_embeddings", true);
  if (config.is_set("add_cross_attention")) {
    config.refuse("add_cross_attention", "is set: attention to another sequence is not modelled");
  }
  decoder::read_shape(config, spec);
  config.set_default("intermediate_size", 4 * spec.hidden);
  dense::read_width(config, spec);
  decoder::read_plain_activation(config, spec, "gelu_new");
  spec.learned_positions =
      config.size("learned_positions").value_or(config.required_size("max_position_embeddings"));
  spec.norm = NormKind::layer;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = true;
}

}  // namespace

extern const Family gpt2_family = {"gpt2", {"gpt2"}, &read_gpt2, &dense::build};

}  // namespace halmark
