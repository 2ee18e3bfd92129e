#include "model/families/moe.hpp"

#include <string>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "model/families/dense.hpp"

namespace halmark::moe {

namespace {

// Fields that change what a layer executes.
constexpr std::string_view costly_fields[] = {"first_k_dense_replace",
                                              "mlp_only_layers",
                                              "decoder_sparse_step",
                                              "moe_layer_freq",
                                              "n_shared_experts",
                                              "num_shared_experts",
                                              "shared_expert_intermediate_size",
                                              "shared_intermediate_size",
                                              "moe_latent_size",
                                              "q_lora_rank",
                                              "kv_lora_rank",
                                              "index_topk",
                                              "attn_output_gate",
                                              "mamba_n_heads",
                                              "mamba_num_heads",
                                              "linear_num_key_heads",
                                              "linear_attn_config",
                                              "routed_expert_hidden_size",
                                              "mla_use_output_gate",
                                              "num_hash_layers",
                                              "hc_mult",
                                              "o_lora_rank",
                                              "index_topk_freq",
                                              "compress_ratios"};

std::string named(std::string_view field) { return "'" + std::string(field) + "'"; }

// x W for every row of the rank's experts, between the router and the sum over a token's experts.
void experts(const ModelSpec& spec, GraphBuilder& b) {
  const ExpertSpec& moe = *spec.moe;
  const bool is_gated = !spec.plain_activation;
  const std::string up = is_gated ? "expert_gate_up" : "expert_up";
  const Extent hidden = GraphBuilder::replicated(moe.latent > 0 ? moe.latent : spec.hidden);
  const Extent width = b.split_expert_width(moe.width);
  b.exchange_rows("dispatch_all_to_all");
  b.regroup_rows("dispatch_regroup");
  b.quantize_rows(up + "_quantize", hidden);
  b.expert_linear({.name = up,
                   .columns_in = hidden,
                   .columns_out = is_gated ? width * 2 : width,
                   .has_bias = moe.has_bias});
  if (is_gated) {
    b.expert_gated_activation("expert_gated_activation", width, spec.gate);
  } else {
    b.expert_activation("expert_activation", width, *spec.plain_activation);
  }
  b.quantize_rows("expert_down_quantize", width);
  b.expert_linear({.name = "expert_down",
                   .columns_in = width,
                   .columns_out = hidden,
                   .split = Split::row,
                   .has_bias = moe.has_bias});
  b.regroup_rows("combine_regroup");
  b.exchange_rows("combine_all_to_all");
}

// Between the width of the model and the one in which the routed experts work. Behind them it
// multiplies partial sums, which a linear map may.
void latent_linear(std::string name, std::int64_t from, std::int64_t to, GraphBuilder& b) {
  const Dtype dtype = b.precision().ffn;
  const Extent in = GraphBuilder::replicated(from);
  b.quantize_input(name + "_quantize", b.tokens(), in, dtype, Split::replicated);
  b.linear({.name = name,
            .rows = b.tokens(),
            .columns_in = in,
            .columns_out = GraphBuilder::replicated(to),
            .split = Split::replicated,
            .dtype = dtype});
}

// Every token passes these. Their gate's multiplication rides on the addition.
void shared_experts(const ModelSpec& spec, GraphBuilder& b) {
  const ExpertSpec& moe = *spec.moe;
  dense::feed_forward(spec, moe.shared_width, "shared_", b);
  if (moe.shared_gate) {
    b.linear({.name = "shared_expert_gate",
              .rows = b.tokens(),
              .columns_in = GraphBuilder::replicated(spec.hidden),
              .columns_out = GraphBuilder::replicated(1),
              .split = Split::replicated,
              .dtype = b.precision().activation});
  }
  b.residual_add("shared_expert_add", spec.hidden);
}

// The router stays in the activations' type: it is small, and its choice decides the rest.
void emit(const ModelSpec& spec, GraphBuilder& b) {
  const ExpertSpec& moe = *spec.moe;
  b.linear({.name = "router",
            .rows = b.tokens(),
            .columns_in = GraphBuilder::replicated(spec.hidden),
            .columns_out = GraphBuilder::replicated(moe.experts),
            .split = Split::replicated,
            .dtype = b.precision().activation,
            .has_bias = moe.router_bias});
  b.route("moe_route", moe);
  if (moe.latent > 0) latent_linear("latent_down", spec.hidden, moe.latent, b);
  b.dispatch("moe_dispatch");
  experts(spec, b);
  b.combine("moe_combine");
  if (moe.latent > 0) latent_linear("latent_up", moe.latent, spec.hidden, b);
  if (moe.shared_width > 0) shared_experts(spec, b);
}

}  // namespace

decoder::FeedForward feed_forward_of_layers() { return {"decoder_moe", emit}; }

decoder::FeedForward feed_forward_of(const ModelSpec& spec, std::int64_t layer) {
  if (!spec.is_sparse[as_size(layer)]) return dense::feed_forward_of_layers();
  return feed_forward_of_layers();
}

void read_experts(ConfigReader& config, ModelSpec& spec, std::string_view count_field,
                  std::string_view width_field) {
  ExpertSpec& moe = spec.moe.emplace();
  constexpr std::int64_t experts_max = 65'536;
  moe.experts = config.required_size(count_field);
  if (moe.experts > experts_max) {
    config.refuse(count_field, "must lie in 1.." + std::to_string(experts_max));
  }
  moe.top_k = config.required_size("num_experts_per_tok");
  if (moe.top_k > moe.experts) {
    config.refuse("num_experts_per_tok", "is " + std::to_string(moe.top_k) + ", more than " +
                                             named(count_field) + " " +
                                             std::to_string(moe.experts));
  }
  moe.width = config.required_size(width_field);
  spec.is_sparse.assign(as_size(spec.layers), true);
}

void read_sparse_layers(ConfigReader& config, ModelSpec& spec) {
  const std::int64_t first = config.count("first_k_dense_replace").value_or(0);
  const std::int64_t step = config.size("decoder_sparse_step").value_or(1);
  const auto listed = config.counts("mlp_only_layers").value_or(std::vector<std::int64_t>{});
  bool has_dense = false;
  for (const std::int64_t layer : below(spec.layers)) {
    const bool is_dense = layer < first || (layer + 1) % step != 0 || contains(listed, layer);
    spec.is_sparse[as_size(layer)] = !is_dense;
    has_dense = has_dense || is_dense;
  }
  if (has_dense) spec.intermediate = config.required_size("intermediate_size");
  config.ignore({"intermediate_size"});  // stated beside experts in every layer
}

void refuse_unmodelled(const ConfigReader& config, std::initializer_list<std::string_view> known) {
  refuse_unmodelled(config, std::span(known.begin(), known.size()));
}

void refuse_unmodelled(const ConfigReader& config, std::span<const std::string_view> known) {
  for (const std::string_view field : costly_fields) {
    if (contains(known, field) || !config.is_set(field)) continue;
    // Every layer, which is what its absence means.
    const bool is_step = field == "decoder_sparse_step" || field == "moe_layer_freq";
    if (is_step && config.is_one(field)) continue;
    config.refuse(field, "changes what a step executes, and is not modelled for this architecture");
  }
  for (const std::string& type : config.texts("layer_types").value_or(std::vector<std::string>{})) {
    if (type == "full_attention" || type == "sliding_attention" || type == "attention") continue;
    config.refuse("layer_types", "lists '" + printable(type) +
                                     "'; full_attention and sliding_attention are modelled");
  }
}

void build(const ModelSpec& spec, GraphBuilder& b) { decoder::build(spec, b, feed_forward_of); }

void predict(const ModelSpec& spec, GraphBuilder& b) {
  decoder::last_layer(spec, b, feed_forward_of);
}

}  // namespace halmark::moe
