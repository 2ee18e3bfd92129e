#include "model/families/dense.hpp"

#include <array>
#include <string>

#include "core/error.hpp"

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
  spec.intermediate = config.required_size("intermediate_size");
  refuse_experts(config, spec);
}

void feed_forward(const ModelSpec& spec, std::int64_t width, std::string_view prefix,
                  GraphBuilder& b) {
  const auto named = [prefix](const char* name) { return std::string(prefix) + name; };
  const Extent ffn = b.split_by_tp(width);
  const Dtype dtype = b.precision().linear;
  const Extent hidden = GraphBuilder::replicated(spec.hidden);
  b.quantize_input(named("gate_up_quantize"), b.tokens(), hidden, dtype, Split::replicated);
  b.linear({.name = named("gate_up_proj"),
            .rows = b.tokens(),
            .columns_in = hidden,
            .columns_out = {2 * ffn.whole, 2 * ffn.local},
            .dtype = dtype,
            .has_bias = spec.mlp_bias});
  b.gated_activation(named("gated_activation"), ffn, spec.gate);
  b.quantize_input(named("down_quantize"), b.tokens(), ffn, dtype, Split::column);
  b.linear({.name = named("down_proj"),
            .rows = b.tokens(),
            .columns_in = ffn,
            .columns_out = hidden,
            .split = Split::row,
            .dtype = dtype,
            .has_bias = spec.mlp_bias});
}

decoder::FeedForward feed_forward_of_layers() {
  return {"decoder", [](const ModelSpec& spec, GraphBuilder& b) {
            feed_forward(spec, spec.intermediate, "", b);
          }};
}

void build(const ModelSpec& spec, GraphBuilder& b) { decoder::build(spec, b, choose); }

}  // namespace halmark::dense
