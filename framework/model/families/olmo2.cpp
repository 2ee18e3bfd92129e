// OLMo 2 and 3: norms behind attention and network instead of in front of them, RMSNorm over whole
// rows of q and k. OLMo 3 has windows in three layers of four.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_olmo2(ConfigReader& config, ModelSpec& spec) {
  dense::read_sizes(config, spec);
  if (spec.architecture == "olmo3") decoder::read_window_pattern(config, spec, 4);
  spec.pre_norms = false;
  spec.post_norms = true;
  spec.qk_norm = spec.qk_norm_of_row = true;
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(false);
}

}  // namespace

extern const Family olmo2_family = {"olmo2", {"olmo2", "olmo3"}, &read_olmo2, &dense::build};

}  // namespace halmark
