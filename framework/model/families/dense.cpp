#include "model/families/dense.hpp"

#include <array>
#include <string>

#include "core/text/error.hpp"

namespace halmark::dense {

namespace {

void refuse_experts(const ConfigReader& config, const ModelSpec& spec) {
  constexpr std::array fields = {"num_experts", "num_local_experts", "n_routed_experts"};
  for (const char* field : fields) {
    const auto experts = config.size(field);
    if (experts && *experts > 1) {
      config.refuse(field, "is " + std::to_string(*experts) + ", but architecture '" +
                               spec.architecture + "' is dense");
    }
  }
}

decoder::FeedForward choose(const ModelSpec&, std::int64_t) { return feed_forward_of_layers(); }

}  // namespace

void read_sizes(ConfigReader& config, ModelSpec& spec) {
  decoder::read_sizes(config, spec);
  read_width(config, spec);
}

void name_as_gpt(ConfigReader& config) {
  config.also_named("num_hidden_layers", "n_layer");
  config.also_named("hidden_size", "n_embd");
  config.also_named("num_attention_heads", "n_head");
  config.also_named("intermediate_size", "n_inner");
  config.also_named("max_position_embeddings", "n_positions");
  config.also_named("hidden_act", "activation_function");
}

void read_width(ConfigReader& config, ModelSpec& spec) {
  spec.intermediate = config.required_size("intermediate_size");
  refuse_experts(config, spec);
}

// gate and up side by side, or up alone in front of a plain activation.
void feed_forward(const ModelSpec& spec, std::int64_t width, std::string_view prefix,
                  GraphBuilder& b) {
  const auto named = [prefix](std::string_view name) {
    return std::string(prefix) + std::string(name);
  };
  const bool is_gated = !spec.plain_activation;
  const std::string up = is_gated ? "gate_up" : "up";
  const Extent ffn = b.split_by_tp(width);
  const Dtype dtype = b.precision().ffn;
  const Extent hidden = GraphBuilder::replicated(spec.hidden);
  b.quantize_input(named(up + "_quantize"), b.tokens(), hidden, dtype, Split::replicated);
  b.linear({.name = named(up + "_proj"),
            .rows = b.tokens(),
            .columns_in = hidden,
            .columns_out = is_gated ? ffn * 2 : ffn,
            .dtype = dtype,
            .has_bias = spec.mlp_bias});
  if (is_gated) {
    b.gated_activation(named("gated_activation"), ffn, spec.gate);
  } else {
    b.activation(named("activation"), ffn, *spec.plain_activation, spec.activation_scalars);
  }
  if (spec.inner_norms) {
    b.norm({.name = named("down_norm"), .rows = b.tokens(), .columns = ffn, .split = Split::head});
    b.all_reduce(named("down_norm_all_reduce"), 1);
  }
  b.quantize_input(named("down_quantize"), b.tokens(), ffn, dtype, Split::column);
  b.linear({.name = named("down_proj"),
            .rows = b.tokens(),
            .columns_in = ffn,
            .columns_out = hidden,
            .split = Split::row,
            .dtype = dtype,
            .has_bias = spec.mlp_bias || spec.down_bias});
}

decoder::FeedForward feed_forward_of_layers() {
  return {"decoder", [](const ModelSpec& spec, GraphBuilder& b) {
            feed_forward(spec, spec.intermediate, "", b);
          }};
}

void build(const ModelSpec& spec, GraphBuilder& b) { decoder::build(spec, b, choose); }

void predict(const ModelSpec& spec, GraphBuilder& b) { decoder::last_layer(spec, b, choose); }

}  // namespace halmark::dense
