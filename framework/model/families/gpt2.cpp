// GPT-2 and GPT-3: LayerNorm, learned positions, biases on every linear, two matrices per
// feed-forward network, head and embedding in one table. The configuration has names of its own.
// The first GPT has its norms behind attention and network; CTRL computes its positions, and its
// head has a bias.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_gpt2(ConfigReader& config, ModelSpec& spec) {
  dense::name_as_gpt(config);
  config.also_named("hidden_act", "afn");
  config.also_named("intermediate_size", "dff");
  config.set_default("tie_word_embeddings", true);
  if (config.is_set("add_cross_attention")) {
    config.refuse("add_cross_attention", "is set: attention to another sequence is not modelled");
  }
  decoder::read_shape(config, spec);
  config.set_default("intermediate_size", 4 * spec.hidden);
  dense::read_width(config, spec);
  const bool is_ctrl = spec.architecture == "ctrl";
  decoder::read_plain_activation(config, spec, is_ctrl ? "relu" : "gelu_new");
  spec.head_bias = is_ctrl;
  if (!is_ctrl) {
    spec.learned_positions =
        config.size("learned_positions").value_or(config.required_size("max_position_embeddings"));
  }
  spec.post_norms = spec.architecture == "openai-gpt";
  spec.pre_norms = spec.final_norm = !spec.post_norms;
  spec.norm = NormKind::layer;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = true;
}

}  // namespace

extern const Family gpt2_family = {
    "gpt2", {"gpt2", "openai-gpt", "ctrl"}, &read_gpt2, &dense::build};

}  // namespace halmark
