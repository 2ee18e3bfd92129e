// Phi-3-small: LayerNorm, biases on every linear, a gate of gelu, and block-sparse attention in all
// but every `dense_attention_every_n_layers`th layer.

#include "core/lists.hpp"
#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_phi3small(ConfigReader& config, ModelSpec& spec) {
  config.also_named("intermediate_size", "ff_intermediate_size");
  config.set_default("tie_word_embeddings", true);
  decoder::read_shape(config, spec);
  decoder::read_rotary(config, spec);
  if (const auto factor = config.number("ff_dim_multiplier"); factor && *factor > 0) {
    config.set_derived("intermediate_size", as_int64(*factor * as_double(spec.hidden)));
  }
  dense::read_width(config, spec);
  spec.gate = GateKind::gelu_tanh;
  spec.norm = NormKind::layer;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = true;
  config.ignore({"hidden_act", "gegelu_limit", "gegelu_pad_to_256", "mup_attn_multiplier",
                 "mup_embedding_multiplier", "mup_use_scaling", "mup_width_multiplier",
                 "rope_embedding_base", "rope_position_scale", "pad_sequence_to_multiple_of_64",
                 "blocksparse_block_size", "blocksparse_homo_head_pattern",
                 "blocksparse_num_local_blocks", "blocksparse_triton_kernel_block_size",
                 "blocksparse_vert_stride", "dummy_token_indices", "ffn_dropout_prob"});
  if (config.size("dense_attention_every_n_layers").value_or(2) > 1) {
    spec.unconfirmed.push_back(
        "block-sparse attention (dense_attention_every_n_layers), priced as attention to all keys");
  }
}

}  // namespace

extern const Family phi3small_family = {"phi3small", {"phi3small"}, &read_phi3small, &dense::build};

}  // namespace halmark
