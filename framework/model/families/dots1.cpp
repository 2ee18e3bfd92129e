// dots.llm1: RMSNorm on each q and k head, dense first layers, then experts beside shared ones,
// scored by sigmoid.

#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_dots1(ConfigReader& config, ModelSpec& spec) {
  moe::refuse_unmodelled(config, {"first_k_dense_replace", "n_shared_experts"});
  decoder::read_sizes(config, spec);
  decoder::read_windows(config, spec, false);
  moe::read_experts(config, spec, "n_routed_experts", "moe_intermediate_size");
  moe::read_sparse_layers(config, spec);
  spec.moe->shared_width = config.count("n_shared_experts").value_or(0) * spec.moe->width;
  spec.moe->scoring = RouterScoring::sigmoid;
  spec.moe->renormalize = config.flag_or("norm_topk_prob", false);
  config.ignore({"scoring_func"});
  spec.qk_norm = true;
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
}

}  // namespace

extern const Family dots1_family = {"dots1", {"dots1"}, &read_dots1, &moe::build};

}  // namespace halmark
