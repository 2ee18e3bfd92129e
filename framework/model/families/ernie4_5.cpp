// ERNIE 4.5: dense, with biases everywhere or nowhere; or experts from `moe_layer_start_index` to
// `moe_layer_end_index` beside shared ones of the routed ones' width. The correction of the scores
// for the choice is state of training and no parameter.

#include "core/lists.hpp"
#include "model/families/dense.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_sparse_layers_ernie4_5(ConfigReader& config, ModelSpec& spec) {
  const std::int64_t first = config.count("moe_layer_start_index").value_or(1);
  // -1 stands for the last layer.
  const auto end = config.number("moe_layer_end_index").value_or(-1);
  const std::int64_t last = end < 0 ? spec.layers - 1 : as_int64(end);
  const std::int64_t interval = config.size("moe_layer_interval").value_or(1);
  for (const std::int64_t layer : below(spec.layers)) {
    const bool is_sparse = layer >= first && layer <= last && (layer + 1) % interval == 0;
    spec.is_sparse[as_size(layer)] = is_sparse;
    if (!is_sparse) spec.intermediate = config.required_size("intermediate_size");
  }
  config.ignore({"intermediate_size"});
}

void read_experts_ernie4_5(ConfigReader& config, ModelSpec& spec) {
  config.also_named("num_experts_per_tok", "moe_k");
  moe::read_experts(config, spec, "moe_num_experts", "moe_intermediate_size");
  read_sparse_layers_ernie4_5(config, spec);
  spec.moe->shared_width = config.count("moe_num_shared_experts").value_or(0) * spec.moe->width;
  spec.moe->has_bias = spec.mlp_bias;
}

void read_ernie4_5(ConfigReader& config, ModelSpec& spec) {
  config.set_default("tie_word_embeddings", true);
  decoder::read_sizes(config, spec);
  const bool has_bias = config.flag("use_bias").value_or(false);
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = has_bias;
  if (spec.architecture == "ernie4_5_moe") {
    moe::refuse_unmodelled(config, {});
    read_experts_ernie4_5(config, spec);
  } else {
    dense::read_width(config, spec);
  }
}

void build_ernie4_5(const ModelSpec& spec, GraphBuilder& b) {
  (spec.moe ? moe::build : dense::build)(spec, b);
}

}  // namespace

extern const Family ernie4_5_family = {
    "ernie4_5", {"ernie4_5", "ernie4_5_moe"}, &read_ernie4_5, &build_ernie4_5};

}  // namespace halmark
