// Gemma 1, 2 and 3: GeGLU, head and embedding in one table. Since Gemma 2 a norm also behind
// attention and feed-forward network, and sliding windows in a pattern; Gemma 3 has q/k norm.
// Caps of the logits are element-wise work inside attention and head.
#include <string>

#include "model/families/dense.hpp"

namespace halmark {

namespace {

// PaliGemma nests a Gemma or a Gemma 2.
void read_gemma(ConfigReader& config, ModelSpec& spec) {
  const std::string type = config.model_types().back();
  const bool is_first = type == "gemma" || type == "paligemma";
  const bool is_third = type.starts_with("gemma3");
  if (!config.has("hidden_act")) config.also_named("hidden_act", "hidden_activation");
  config.ignore({"hidden_activation"});
  config.set_default("hidden_act", "gelu_pytorch_tanh");
  config.set_default("tie_word_embeddings", true);
  dense::read_sizes(config, spec);
  const bool has_bias = config.flag("attention_bias").value_or(false);
  spec.qkv_bias = spec.o_bias = has_bias;
  if (spec.architecture == "paligemma") {
    spec.unconfirmed.emplace_back("attention that sees image and prompt whole, priced as causal");
  }
  if (is_first) return;
  spec.post_norms = true;
  spec.qk_norm = is_third;
  decoder::read_window_pattern(config, spec, is_third ? 6 : 2);
}

}  // namespace

extern const Family gemma_family = {
    "gemma", {"gemma", "gemma2", "gemma3", "gemma3_text", "paligemma"}, &read_gemma, &dense::build};

}  // namespace halmark
