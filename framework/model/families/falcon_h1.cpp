// Falcon-H1: attention and Mamba-2 side by side in every layer, on one norm; their outputs are
// added. Multipliers are factors of neighbouring operators.

#include "model/families/dense.hpp"
#include "model/families/mixers.hpp"

namespace halmark {

namespace {

void read_falcon_h1(ConfigReader& config, ModelSpec& spec) {
  dense::read_sizes(config, spec);
  mixers::read_state_space(config, spec);
  spec.state_space->has_norm = config.flag("mamba_rms_norm").value_or(false);
  spec.mixers = decoder::uniform_mixers(spec);
  for (LayerMixer& mixer : spec.mixers) mixer.has_state_space = true;
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
  spec.mlp_bias = config.flag("mlp_bias").value_or(false);
  if (config.flag("projectors_bias").value_or(false) != spec.state_space->has_linear_bias) {
    config.refuse("projectors_bias", "and mamba_proj_bias differ, which is not modelled");
  }
  config.ignore({"attention_in_multiplier", "attention_out_multiplier", "key_multiplier",
                 "lm_head_multiplier", "mlp_multipliers", "ssm_in_multiplier", "ssm_multipliers",
                 "ssm_out_multiplier", "mamba_use_mlp", "mlp_expansion_factor",
                 "mamba_norm_before_gate", "attn_layer_indices"});
}

}  // namespace

extern const Family falcon_h1_family = {"falcon_h1", {"falcon_h1"}, &read_falcon_h1, &dense::build};

}  // namespace halmark
