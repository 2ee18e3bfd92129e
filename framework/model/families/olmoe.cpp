// OLMoE: experts in every layer, RMSNorm over whole rows of q and k; `intermediate_size` is the
// width of one expert.

#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_olmoe(ConfigReader& config, ModelSpec& spec) {
  moe::refuse_unmodelled(config, {});
  decoder::read_sizes(config, spec);
  moe::read_experts(config, spec, "num_experts", "intermediate_size");
  spec.moe->renormalize = config.flag("norm_topk_prob").value_or(false);
  spec.qk_norm = spec.qk_norm_of_row = true;
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
}

}  // namespace

extern const Family olmoe_family = {"olmoe", {"olmoe"}, &read_olmoe, &moe::build};

}  // namespace halmark
