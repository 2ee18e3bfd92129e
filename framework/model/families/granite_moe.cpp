// Granite MoE: experts in every layer, softmax over the chosen logits. Its multipliers of
// embedding, attention, residual and logits are factors of neighbouring operators and cost nothing.

#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_granite_moe(ConfigReader& config, ModelSpec& spec) {
  const bool has_shared = spec.architecture == "granitemoeshared";
  moe::refuse_unmodelled(config, {has_shared ? "shared_intermediate_size" : ""});
  decoder::read_sizes(config, spec);
  decoder::read_windows(config, spec, true);
  moe::read_experts(config, spec, "num_local_experts", "intermediate_size");
  if (has_shared) {
    spec.moe->shared_width = config.count("shared_intermediate_size").value_or(0);
  }
  const bool has_bias = config.flag("attention_bias").value_or(false);
  spec.qkv_bias = has_bias;
  spec.o_bias = has_bias;
}

}  // namespace

extern const Family granite_moe_family = {
    "granite_moe", {"granitemoe", "granitemoeshared"}, &read_granite_moe, &moe::build};

}  // namespace halmark
