// SmolLM3: the dense decoder whose every fourth layer does not rotate.

#include "core/lists.hpp"
#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_smollm3(ConfigReader& config, ModelSpec& spec) {
  config.set_default("tie_word_embeddings", true);
  dense::read_sizes(config, spec);
  decoder::read_windows(config, spec, false);
  const std::vector<bool> rotates = decoder::read_rotating_layers(config, spec);
  spec.mixers = decoder::uniform_mixers(spec);
  for (const auto i : indices(spec.mixers)) spec.mixers[i].has_rotary = rotates[i];
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
  spec.mlp_bias = config.flag("mlp_bias").value_or(false);
}

}  // namespace

extern const Family smollm3_family = {"smollm3", {"smollm3"}, &read_smollm3, &dense::build};

}  // namespace halmark
