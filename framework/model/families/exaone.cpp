// EXAONE 3 and 4. The third is the dense decoder under names of its own; the fourth has norms
// behind attention and network alone, RMSNorm on each q and k head, and where it has windows,
// layers that see everything do not rotate.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_third(ConfigReader& config, ModelSpec& spec) {
  config.also_named("num_hidden_layers", "num_layers");
  config.also_named("hidden_act", "activation_function");
  if (const auto hidden = config.size("hidden_size")) {
    config.set_default("intermediate_size", 4 * *hidden);
  }
  dense::read_sizes(config, spec);
}

void read_fourth(ConfigReader& config, ModelSpec& spec) {
  dense::read_sizes(config, spec);
  spec.pre_norms = false;
  spec.post_norms = spec.qk_norm = true;
  if (!config.has("sliding_window")) {
    return config.ignore({"sliding_window_pattern", "layer_types"});
  }
  decoder::read_window_pattern(config, spec, 4);
  spec.mixers = decoder::uniform_mixers(spec);
  for (LayerMixer& mixer : spec.mixers) mixer.has_rotary = mixer.window > 0;
}

void read_exaone(ConfigReader& config, ModelSpec& spec) {
  (spec.architecture == "exaone" ? read_third : read_fourth)(config, spec);
}

}  // namespace

extern const Family exaone_family = {"exaone", {"exaone", "exaone4"}, &read_exaone, &dense::build};

}  // namespace halmark
