// Arctic: a dense network of the model's own width on attention's output, and experts beside it, in
// every `moe_layer_frequency`th layer; a dense network in the others.

#include "core/numeric/cast.hpp"
#include "model/families/dense.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_arctic(ConfigReader& config, ModelSpec& spec) {
  decoder::read_sizes(config, spec);
  decoder::read_windows(config, spec, true);
  moe::read_experts(config, spec, "num_local_experts", "intermediate_size");
  spec.intermediate = config.required_size("intermediate_size");
  const std::int64_t period = config.size_or("moe_layer_frequency", 2);
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    spec.is_sparse[as_size(layer)] = (layer + 1) % period == 0;
  }
  const bool has_residual = config.flag("parallel_attn_mlp_res").value_or(false);
  spec.ffn_widths.assign(as_size(spec.layers), has_residual ? spec.hidden : 0);
  config.ignore({"use_residual", "enable_expert_tensor_parallelism", "enc_index",
                 "moe_eval_capacity_factor", "moe_train_capacity_factor", "moe_min_capacity",
                 "moe_token_dropping", "quantization"});
}

void residual_network(const ModelSpec& spec, GraphBuilder& b) {
  b.rmsnorm("residual_norm", b.tokens(), spec.hidden, Split::replicated);
  dense::feed_forward(spec, spec.hidden, "residual_", b);
  b.all_reduce("residual_all_reduce", spec.hidden);
  b.residual_add("residual_add", spec.hidden);
}

decoder::FeedForward choose_arctic(const ModelSpec& spec, std::int64_t layer) {
  decoder::FeedForward out = moe::feed_forward_of(spec, layer);
  const auto at = as_size(layer);
  if (spec.is_sparse[at] && spec.ffn_widths[at] > 0) out.before = residual_network;
  return out;
}

void build_arctic(const ModelSpec& spec, GraphBuilder& b) {
  decoder::build(spec, b, choose_arctic);
}

}  // namespace

extern const Family arctic_family = {"arctic", {"arctic"}, &read_arctic, &build_arctic};

}  // namespace halmark
