// StableLM: LayerNorm, a gated network, a quarter of every head rotated; StableLM 2 has biases on
// q, k and v, and at 12 B both sides behind one norm and gains of each head's own on q and k.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_stablelm(ConfigReader& config, ModelSpec& spec) {
  config.also_named("partial_rotary_factor", "rope_pct");
  decoder::default_rotary_share(config, 0.25);
  dense::read_sizes(config, spec);
  spec.norm = NormKind::layer;
  spec.qkv_bias = config.flag("use_qkv_bias").value_or(false);
  spec.is_parallel = config.flag("use_parallel_residual").value_or(false);
  if (!config.flag("qk_layernorm").value_or(false)) return;
  spec.qk_norm = spec.qk_norm_of_each_head = true;
  spec.qk_norm_kind = NormKind::layer_without_shift;
}

}  // namespace

extern const Family stablelm_family = {
    "stablelm", {"stablelm", "stablelm_epoch"}, &read_stablelm, &dense::build};

}  // namespace halmark
