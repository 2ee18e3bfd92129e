// OpenELM: every layer has heads and a width of its own; RMSNorm on every head of q and k, head and
// embedding in one table.
#include <cmath>
#include <string>

#include "core/numeric/cast.hpp"
#include "model/families/dense.hpp"

namespace halmark {

namespace {

// The multiple of `divisor` next to the product, not below nine tenths of it.
std::int64_t width_of(const ConfigReader& config, double factor, std::int64_t hidden) {
  constexpr double factor_max = 1024;
  if (!(factor > 0 && factor <= factor_max)) {
    config.refuse("ffn_multipliers", "must lie in (0, 1024]");
  }
  const std::int64_t divisor = config.size("ffn_dim_divisor").value_or(256);
  const double exact = factor * as_double(hidden);
  const auto middle = static_cast<std::int64_t>(exact + as_double(divisor) / 2);
  const std::int64_t width = std::max(divisor, middle / divisor * divisor);
  return as_double(width) < 0.9 * exact ? width + divisor : width;
}

void read_openelm(ConfigReader& config, ModelSpec& spec) {
  config.also_named("hidden_size", "model_dim");
  config.also_named("num_hidden_layers", "num_transformer_layers");
  config.also_named("max_position_embeddings", "max_context_length");
  config.also_named("hidden_act", "activation_fn_name");
  config.also_named("tie_word_embeddings", "share_input_output_layers");
  decoder::read_outline(config, spec);
  const auto heads = config.counts("num_query_heads").value_or(std::vector<std::int64_t>{});
  const auto kv_heads = config.counts("num_kv_heads").value_or(std::vector<std::int64_t>{});
  const auto factors =
      config.numbers("ffn_multipliers").value_or(std::vector<std::optional<double>>{});
  decoder::check_layer_count(config, spec, "num_query_heads", heads.size());
  decoder::check_layer_count(config, spec, "num_kv_heads", kv_heads.size());
  decoder::check_layer_count(config, spec, "ffn_multipliers", factors.size());
  spec.head_dim = config.required_size("head_dim");
  decoder::read_rotary(config, spec);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (kv_heads[i] == 0 || heads[i] % kv_heads[i] != 0) {
      config.refuse("num_kv_heads",
                    "does not divide num_query_heads in layer " + std::to_string(i));
    }
    spec.mixers.push_back({.heads = heads[i],
                           .kv_heads = kv_heads[i],
                           .head_dim = spec.head_dim,
                           .value_dim = spec.head_dim});
    spec.ffn_widths.push_back(width_of(config, factors[i].value_or(0), spec.hidden));
  }
  spec.heads = heads.front();
  spec.kv_heads = kv_heads.front();
  spec.qk_norm = config.flag("normalize_qk_projections").value_or(false);
  if (!config.flag("ffn_with_glu").value_or(true)) {
    decoder::read_plain_activation(config, spec, "silu");
  }
  config.ignore({"normalization_layer_name", "num_gqa_groups", "qkv_multipliers",
                 "rope_freq_constant", "rope_max_length"});
}

decoder::FeedForward choose_openelm(const ModelSpec& spec, std::int64_t layer) {
  const std::int64_t width = spec.ffn_widths[as_size(layer)];
  return {"decoder_" + std::to_string(width), [width](const ModelSpec& model, GraphBuilder& b) {
            dense::feed_forward(model, width, "", b);
          }};
}

void build_openelm(const ModelSpec& spec, GraphBuilder& b) {
  decoder::build(spec, b, choose_openelm);
}

}  // namespace

extern const Family openelm_family = {"openelm", {"openelm"}, &read_openelm, &build_openelm};

}  // namespace halmark
