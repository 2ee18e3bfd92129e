// InternLM and InternLM 3: the dense decoder; of the first `bias` is about all projections of
// attention, of the third about those of the network too.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_internlm(ConfigReader& config, ModelSpec& spec) {
  dense::read_sizes(config, spec);
  const bool is_first = spec.architecture == "internlm";
  const bool has_bias = config.flag_or("bias", is_first);
  spec.qkv_bias = is_first ? has_bias : config.flag("qkv_bias").value_or(false);
  spec.o_bias = has_bias;
  spec.mlp_bias = !is_first && has_bias;
}

}  // namespace

extern const Family internlm_family = {
    "internlm", {"internlm", "internlm3"}, &read_internlm, &dense::build};

}  // namespace halmark
