// GLM-4.5: the first layers dense, sigmoid scores, shared experts of the routed ones' width, biases
// on q, k and v. The correction of the scores for the choice is state of training and no parameter.

#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_glm4_moe(ConfigReader& config, ModelSpec& spec) {
  moe::refuse_unmodelled(config, {"first_k_dense_replace", "n_shared_experts"});
  decoder::read_sizes(config, spec);
  decoder::read_windows(config, spec, false);
  moe::read_experts(config, spec, "n_routed_experts", "moe_intermediate_size");
  moe::read_sparse_layers(config, spec);
  ExpertSpec& experts = *spec.moe;
  experts.shared_width = config.count("n_shared_experts").value_or(0) * experts.width;
  experts.scoring = RouterScoring::sigmoid;
  experts.renormalize = config.flag_or("norm_topk_prob", true);
  spec.qkv_bias = config.flag("attention_bias").value_or(false);
  spec.qk_norm = config.flag("use_qk_norm").value_or(false);
}

}  // namespace

extern const Family glm4_moe_family = {
    "glm4_moe", {"glm4_moe", "glm4v_moe_text"}, &read_glm4_moe, &moe::build, &moe::predict};

}  // namespace halmark
