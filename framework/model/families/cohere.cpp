// Command R and R7B: attention and a gated network side by side behind one LayerNorm without a
// shift, head and embedding in one table. Cohere 1 may norm every head of q and k with gains of its
// own; Cohere 2 has windows in three layers of four and rotates in those alone.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_windows(ConfigReader& config, ModelSpec& spec) {
  decoder::read_window_pattern(config, spec, 4);
  spec.mixers = decoder::uniform_mixers(spec);
  for (LayerMixer& mixer : spec.mixers) mixer.has_rotary = mixer.window > 0;
}

void read_cohere(ConfigReader& config, ModelSpec& spec) {
  config.set_default("tie_word_embeddings", true);
  dense::read_sizes(config, spec);
  if (spec.architecture == "cohere2") read_windows(config, spec);
  spec.norm = NormKind::layer_without_shift;
  spec.is_parallel = true;
  spec.qk_norm = spec.qk_norm_of_each_head = config.flag("use_qk_norm").value_or(false);
  spec.qk_norm_kind = NormKind::layer_without_shift;
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
}

}  // namespace

extern const Family cohere_family = {"cohere", {"cohere", "cohere2"}, &read_cohere, &dense::build};

}  // namespace halmark
