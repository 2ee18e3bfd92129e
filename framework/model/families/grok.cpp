// Grok: norms in front of and behind attention and experts, which gate by gelu. Grok-2 adds a dense
// network to the experts of every layer, both halved in the sum.

#include "model/families/dense.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

void read_grok(ConfigReader& config, ModelSpec& spec) {
  const bool has_residual = config.flag("residual_moe").value_or(false);
  config.also_named("num_experts", "num_local_experts");
  if (spec.architecture == "git" && !config.has("num_experts")) {
    config.refuse("model_type", "is 'git' without experts: a captioning model, not Grok-2");
  }
  config.set_default("tie_word_embeddings", !has_residual);
  config.set_default("hidden_act", std::string("gelu"));
  decoder::read_sizes(config, spec);
  const bool has_width = config.has("moe_intermediate_size");
  moe::read_experts(config, spec, "num_experts",
                    has_width ? "moe_intermediate_size" : "intermediate_size");
  if (has_residual) spec.moe->shared_width = config.required_size("intermediate_size");
  spec.post_norms = true;
  config.ignore({"attn_output_multiplier", "embedding_multiplier_scale", "output_multiplier_scale",
                 "max_attn_value", "attn_temperature_len", "sliding_window_size",
                 "global_attn_every_n", "final_logit_softcapping", "attn_logit_softcapping",
                 "router_logit_softcapping", "attn_logit_softcapping_method"});
}

}  // namespace

extern const Family grok_family = {"grok", {"grok-1", "grok-2", "git"}, &read_grok, &moe::build};

}  // namespace halmark
