// Llama 3.2 Vision: layers among those of Llama whose queries see the image instead of the text.
// Keys and values of an image are made once, when its prompt is read, and kept; a request is taken
// to have one image of as many tiles as the configuration allows.
#include <string>

#include "kernels/kv_cache.hpp"
#include "model/families/dense.hpp"

namespace halmark {

namespace {

// A patch each, and one more token per tile.
std::int64_t image_tokens(ConfigReader& config) {
  const std::int64_t side = config.size("vision_config.image_size").value_or(560) /
                            config.size("vision_config.patch_size").value_or(14);
  const std::int64_t tiles = config.size("vision_config.max_num_tiles").value_or(4);
  constexpr std::int64_t side_max = 1024, tiles_max = 64;
  if (side > side_max || tiles > tiles_max) {
    config.refuse("vision_config", "states images of more than 1024 x 1024 patches in 64 tiles");
  }
  return (side * side + 1) * tiles;
}

void read_mllama(ConfigReader& config, ModelSpec& spec) {
  dense::read_sizes(config, spec);
  const auto listed = config.counts("cross_attention_layers").value_or(std::vector<std::int64_t>{});
  const std::int64_t tokens = image_tokens(config);
  spec.mixers = decoder::uniform_mixers(spec);
  for (const std::int64_t layer : listed) {
    if (layer >= spec.layers) {
      config.refuse("cross_attention_layers", "lists layer " + std::to_string(layer) +
                                                  ", but there are " + std::to_string(spec.layers));
    }
    spec.mixers[static_cast<std::size_t>(layer)].outside = tokens;
  }
  spec.outside_qk_norm = true;
  spec.extra_rows = 8;  // of the embedding alone
  spec.unconfirmed.push_back("attention of text to an image (cross_attention_layers), priced for " +
                             std::to_string(tokens) + " tokens of one image");
  config.ignore({"vision_config", "vision_output_dim", "image_token_index"});
}

// What an attention to the image and its network add is scaled by a learned number each.
void scale_by_gates(const ModelSpec&, GraphBuilder& b) {
  b.activation("cross_gates", GraphBuilder::replicated(2), ActivationKind::gelu_tanh, 2);
}

decoder::FeedForward choose_mllama(const ModelSpec& spec, std::int64_t layer) {
  decoder::FeedForward out = dense::feed_forward_of_layers();
  if (mixer_of(spec, layer).outside == 0) return out;
  out.layer_type = "cross_attention";
  out.after = scale_by_gates;
  return out;
}

void build_mllama(const ModelSpec& spec, GraphBuilder& b) {
  decoder::build(spec, b, choose_mllama);
}

}  // namespace

extern const Family mllama_family = {
    "mllama", {"mllama", "mllama_text_model"}, &read_mllama, &build_mllama};

}  // namespace halmark
