// Gemma 1, 2 and 3: GeGLU, head and embedding in one table. Since Gemma 2 a norm also behind
// attention and feed-forward network, and sliding windows in a pattern; Gemma 3 has q/k norm.
// Caps of the logits are element-wise work inside attention and head.
#include <array>
#include <string>

#include "model/families/dense.hpp"

namespace halmark {

namespace {

constexpr std::array<std::string_view, 4> model_types = {"gemma", "gemma2", "gemma3",
                                                         "gemma3_text"};

// Every `period`th layer attends to everything, the others to a window.
void read_pattern(ConfigReader& config, ModelSpec& spec, std::int64_t period) {
  if (const auto types =
          decoder::read_layer_types(config, spec, {"sliding_attention", "full_attention"})) {
    const std::int64_t window = config.required_size("sliding_window");
    for (std::size_t i = 0; i < types->size(); ++i) {
      spec.windows[i] = (*types)[i] == "sliding_attention" ? window : 0;
    }
    return;
  }
  config.also_named("sliding_window_pattern", "_sliding_window_pattern");
  period = config.size_or("sliding_window_pattern", period);
  const std::int64_t window = config.required_size("sliding_window");
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    const bool is_full = (layer + 1) % period == 0;
    spec.windows[static_cast<std::size_t>(layer)] = is_full ? 0 : window;
  }
}

// Files of Gemma 3 leave out what equals the defaults of the reference implementation.
void set_gemma3_defaults(ConfigReader& config) {
  config.set_default("vocab_size", 262'208);
  config.set_default("num_attention_heads", 8);
  config.set_default("num_key_value_heads", 4);
  config.set_default("head_dim", 256);
  config.set_default("max_position_embeddings", 131'072);
}

void read(ConfigReader& config, ModelSpec& spec) {
  const bool is_third = spec.architecture.starts_with("gemma3");
  config.also_named("hidden_act", "hidden_activation");
  config.set_default("hidden_act", "gelu_pytorch_tanh");
  config.set_default("tie_word_embeddings", true);
  if (is_third) set_gemma3_defaults(config);
  dense::read_sizes(config, spec);
  const bool has_bias = config.flag("attention_bias").value_or(false);
  spec.qkv_bias = spec.o_bias = has_bias;
  if (spec.architecture == "gemma") return;
  spec.post_norms = true;
  spec.qk_norm = is_third;
  read_pattern(config, spec, is_third ? 6 : 2);
}

}  // namespace

extern const Family gemma_family;
const Family gemma_family = {"gemma", model_types, &read, &dense::build};

}  // namespace halmark
