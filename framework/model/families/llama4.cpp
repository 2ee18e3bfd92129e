// Llama 4: three layers of four rotate and attend within chunks, the fourth does neither; experts
// in every `interleave_moe_layer_step`th layer, one of the routed ones' width shared by all tokens.

#include "core/lists.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_mixers_llama4(const ConfigReader& config, ModelSpec& spec) {
  const std::vector<bool> rotates = decoder::read_rotating_layers(config, spec);
  const auto chunk = config.size("attention_chunk_size").value_or(0);
  const auto types =
      decoder::read_layer_types(config, spec, {"chunked_attention", "full_attention"});
  spec.mixers = decoder::uniform_mixers(spec);
  for (const auto i : indices(spec.mixers)) {
    spec.mixers[i].has_rotary = rotates[i];
    const bool is_chunked = types ? (*types)[i] == "chunked_attention" : rotates[i];
    spec.mixers[i].chunk = is_chunked ? chunk : 0;
  }
}

void read_sparse_layers_llama4(const ConfigReader& config, ModelSpec& spec) {
  const std::int64_t step = config.size("interleave_moe_layer_step").value_or(1);
  const auto listed = config.counts("moe_layers");
  config.ignore({"intermediate_size_mlp", "interleave_moe_layer_step"});
  for (const std::int64_t layer : below(spec.layers)) {
    const bool is_sparse = listed ? contains(*listed, layer) : (layer + 1) % step == 0;
    spec.is_sparse[as_size(layer)] = is_sparse;
  }
  if (contains(spec.is_sparse, false)) {
    spec.intermediate = config.required_size("intermediate_size_mlp");
  }
}

void read_llama4(ConfigReader& config, ModelSpec& spec) {
  decoder::read_sizes(config, spec);
  moe::read_experts(config, spec, "num_local_experts", "intermediate_size");
  read_sparse_layers_llama4(config, spec);
  read_mixers_llama4(config, spec);
  spec.moe->shared_width = spec.moe->width;
  spec.moe->scoring = RouterScoring::sigmoid;
  spec.moe->renormalize = false;
  spec.qk_norm = config.flag("use_qk_norm").value_or(true);
  spec.qk_norm_has_gain = false;
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
}

}  // namespace

extern const Family llama4_family = {
    "llama4", {"llama4", "llama4_text"}, &read_llama4, &moe::build};

}  // namespace halmark
