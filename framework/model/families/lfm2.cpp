// LFM2: short convolutions between gates in most layers, attention with q/k norm in the others;
// dense, or experts behind the first layers. Two spellings: of the library, and of the first files.
#include <string>

#include "core/lists.hpp"
#include "model/families/dense.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

// The first files list the layers that attend; the library's name every layer.
void read_mixers_lfm2(const ConfigReader& config, ModelSpec& spec) {
  const auto types = decoder::read_layer_types(config, spec, {"conv", "full_attention"});
  const auto listed = config.counts("full_attn_idxs");
  spec.mixers = decoder::uniform_mixers(spec);
  if (!types && !listed) return;
  for (const auto i : indices(spec.mixers)) {
    const bool attends = types ? (*types)[i] == "full_attention" : contains(*listed, as_int64(i));
    if (!attends) spec.mixers[i] = {.kind = Mixer::convolution};
  }
  for (const std::int64_t layer : listed.value_or(std::vector<std::int64_t>{})) {
    if (layer < spec.layers) continue;
    config.refuse("full_attn_idxs", "lists layer " + std::to_string(layer) + ", but there are " +
                                        std::to_string(spec.layers));
  }
}

// Two thirds of the stated width, times a factor, rounded up.
std::int64_t adjusted_width(const ConfigReader& config, std::int64_t stated) {
  if (!config.flag("block_auto_adjust_ff_dim").value_or(true)) return stated;
  const double factor = config.number("block_ffn_dim_multiplier").value_or(1.0);
  if (factor <= 0 || factor > 64) config.refuse("block_ffn_dim_multiplier", "must lie in (0, 64]");
  const auto width = as_int64(factor * as_double(2 * stated / 3));
  const std::int64_t multiple = config.size("block_multiple_of").value_or(256);
  return (width + multiple - 1) / multiple * multiple;
}

void read_networks_lfm2(ConfigReader& config, ModelSpec& spec) {
  if (spec.architecture == "lfm2") {
    const auto own = config.size("block_ff_dim");
    spec.intermediate =
        adjusted_width(config, own ? *own : config.required_size("intermediate_size"));
    return config.ignore({"intermediate_size"});
  }
  config.also_named("first_k_dense_replace", "num_dense_layers");
  moe::read_experts(config, spec, "num_experts", "moe_intermediate_size");
  moe::read_sparse_layers(config, spec);
  spec.moe->scoring = RouterScoring::sigmoid;
  spec.moe->renormalize = config.flag("norm_topk_prob").value_or(true);
}

void read_lfm2(ConfigReader& config, ModelSpec& spec) {
  config.also_named("tie_word_embeddings", "tie_embedding");
  config.set_default("tie_word_embeddings", true);
  decoder::read_sizes(config, spec);
  ConvolutionSpec& conv = spec.convolution.emplace();
  conv.kernel = config.required_size("conv_L_cache");
  conv.has_bias = config.flag("conv_bias").value_or(false);
  read_networks_lfm2(config, spec);
  read_mixers_lfm2(config, spec);
  spec.qk_norm = true;
  config.ignore({"block_dim", "conv_dim", "conv_dim_out", "num_heads", "block_use_swiglu",
                 "block_norm_eps", "block_mlp_init_scale", "block_out_init_scale",
                 "block_use_xavier_init", "conv_use_xavier_init", "use_pos_enc",
                 "use_expert_bias"});
}

void build_lfm2(const ModelSpec& spec, GraphBuilder& b) {
  (spec.moe ? moe::build : dense::build)(spec, b);
}

}  // namespace

extern const Family lfm2_family = {"lfm2", {"lfm2", "lfm2_moe"}, &read_lfm2, &build_lfm2};

}  // namespace halmark
