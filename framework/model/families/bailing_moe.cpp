// Ling: experts beside shared ones, dense first layers; the second line normalises q and k and
// scores by sigmoid.

#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_experts_bailing(ConfigReader& config, ModelSpec& spec) {
  moe::read_experts(config, spec, "num_experts", "moe_intermediate_size");
  moe::read_sparse_layers(config, spec);
  const std::int64_t shared = config.count("num_shared_experts").value_or(0);
  spec.moe->shared_width =
      shared * config.size("moe_shared_expert_intermediate_size").value_or(spec.moe->width);
  config.also_named("scoring_func", "score_function");
  spec.moe->scoring =
      config.is_text("scoring_func", "sigmoid") ? RouterScoring::sigmoid : RouterScoring::softmax;
  spec.moe->renormalize = config.flag_or("norm_topk_prob", true);
}

void read_bailing_moe(ConfigReader& config, ModelSpec& spec) {
  moe::refuse_unmodelled(config, {"first_k_dense_replace", "num_shared_experts"});
  config.also_named("rotary_dim", "rotary_dimension");
  decoder::read_sizes(config, spec);
  read_experts_bailing(config, spec);
  const bool is_second = spec.architecture == "bailing_moe_v2";
  spec.qk_norm = config.flag("use_qk_norm").value_or(is_second);
  const bool has_bias = config.flag("use_bias").value_or(false);
  spec.qkv_bias = has_bias || config.flag("use_qkv_bias").value_or(false);
  spec.o_bias = spec.mlp_bias = has_bias;
  if (config.is_set("multi_gate")) {
    config.refuse("multi_gate", "is true; one router per layer is modelled");
  }
  config.ignore({"norm_head", "norm_softmax", "embedding_dropout", "output_dropout", "router_type",
                 "max_window_layers", "use_rmsnorm", "rotary_dim", "mtp_loss_scaling_factor",
                 "router_bias_update_rate"});
}

}  // namespace

extern const Family bailing_moe_family = {"bailing_moe",
                                          {"bailing_moe", "bailing_moe_v2"},
                                          &read_bailing_moe,
                                          &moe::build,
                                          &moe::predict};

}  // namespace halmark
