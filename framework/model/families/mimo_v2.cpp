// MiMo-V2-Flash: layers with a window have KV heads of their own, values are narrower than keys,
// experts in all but the first layers. The sinks of windowed layers are constants, no parameters.
#include <string>

#include "core/lists.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

LayerMixer windowed_mixer(const ConfigReader& config, const LayerMixer& full) {
  LayerMixer out = full;
  out.heads = config.size("swa_num_attention_heads").value_or(full.heads);
  out.kv_heads = config.size("swa_num_key_value_heads").value_or(full.kv_heads);
  out.head_dim = config.size("swa_head_dim").value_or(full.head_dim);
  out.value_dim = config.size("swa_v_head_dim").value_or(full.value_dim);
  out.window = config.required_size("sliding_window");
  if (out.heads % out.kv_heads != 0) {
    config.refuse("swa_num_key_value_heads", "is " + std::to_string(out.kv_heads) +
                                                 ", which does not divide the " +
                                                 std::to_string(out.heads) + " query heads");
  }
  return out;
}

// 1 = window.
void read_mixers_mimo_v2(const ConfigReader& config, ModelSpec& spec) {
  const auto pattern = config.counts("hybrid_layer_pattern").value_or(std::vector<std::int64_t>{});
  decoder::check_layer_count(config, spec, "hybrid_layer_pattern", pattern.size());
  spec.mixers = decoder::uniform_mixers(spec);
  for (LayerMixer& mixer : spec.mixers) {
    mixer.value_dim = config.size("v_head_dim").value_or(spec.head_dim);
  }
  const LayerMixer windowed = windowed_mixer(config, spec.mixers.front());
  for (const auto i : indices(pattern)) {
    if (pattern[i] > 1) config.refuse("hybrid_layer_pattern", "lists a value beside 0 and 1");
    if (pattern[i] == 1) spec.mixers[i] = windowed;
    spec.windows[i] = spec.mixers[i].window;
  }
}

// 1 = experts.
void read_sparse_layers_mimo_v2(const ConfigReader& config, ModelSpec& spec) {
  const auto pattern = config.counts("moe_layer_freq").value_or(std::vector<std::int64_t>{});
  decoder::check_layer_count(config, spec, "moe_layer_freq", pattern.size());
  for (const auto i : indices(pattern)) spec.is_sparse[i] = pattern[i] != 0;
  spec.intermediate = config.required_size("intermediate_size");
}

void read_mimo_v2(ConfigReader& config, ModelSpec& spec) {
  moe::refuse_unmodelled(config, {"moe_layer_freq"});
  config.ignore({"attention_chunk_size", "sliding_window_size", "scoring_func"});
  decoder::read_sizes(config, spec);
  moe::read_experts(config, spec, "n_routed_experts", "moe_intermediate_size");
  read_sparse_layers_mimo_v2(config, spec);
  read_mixers_mimo_v2(config, spec);
  spec.moe->scoring = RouterScoring::sigmoid;
  spec.moe->renormalize = config.flag_or("norm_topk_prob", true);
  spec.qkv_bias = config.flag("attention_bias").value_or(false);
}

}  // namespace

extern const Family mimo_v2_family = {"mimo_v2", {"mimo_v2_flash"}, &read_mimo_v2, &moe::build};

}  // namespace halmark
