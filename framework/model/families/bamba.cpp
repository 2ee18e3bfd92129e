// Bamba: Mamba-2 in all layers but those that are listed, which attend and rotate half of a head; a
// gated network in every one.

#include "core/numeric/cast.hpp"
#include "model/families/dense.hpp"
#include "model/families/mixers.hpp"

namespace halmark {

namespace {

void read_bamba(ConfigReader& config, ModelSpec& spec) {
  decoder::default_rotary_share(config, 0.5);
  dense::read_sizes(config, spec);
  mixers::read_state_space(config, spec);
  spec.mixers.assign(as_size(spec.layers), {.kind = Mixer::state_space});
  const auto attends = config.counts("attn_layer_indices").value_or(std::vector<std::int64_t>{});
  for (const std::int64_t layer : attends) {
    if (layer >= spec.layers) {
      config.refuse("attn_layer_indices", "lists layer " + std::to_string(layer) +
                                              ", but there are " + std::to_string(spec.layers));
    }
    spec.mixers[as_size(layer)] = {.heads = spec.heads,
                                   .kv_heads = spec.kv_heads,
                                   .head_dim = spec.head_dim,
                                   .value_dim = spec.head_dim};
  }
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
  spec.mlp_bias = config.flag("mlp_bias").value_or(false);
  config.ignore({"attn_rotary_emb", "z_loss_coefficient"});
}

}  // namespace

extern const Family bamba_family = {"bamba", {"bamba"}, &read_bamba, &dense::build};

}  // namespace halmark
