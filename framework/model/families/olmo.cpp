// OLMo: the dense decoder with LayerNorm that has neither gains nor shifts; and Orion, with both.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_olmo(ConfigReader& config, ModelSpec& spec) {
  dense::read_sizes(config, spec);
  spec.norm = NormKind::layer;
  spec.norm_has_gain = spec.architecture == "orion";
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
}

}  // namespace

extern const Family olmo_family = {"olmo", {"olmo", "orion"}, &read_olmo, &dense::build};

}  // namespace halmark
