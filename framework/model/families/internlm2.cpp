// InternLM2 and 2.5: the dense decoder; `bias` is about all projections of attention.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_internlm2(ConfigReader& config, ModelSpec& spec) {
  config.also_named("attention_bias", "bias");
  dense::read_sizes(config, spec);
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias").value_or(true);
}

}  // namespace

extern const Family internlm2_family = {"internlm2", {"internlm2"}, &read_internlm2, &dense::build};

}  // namespace halmark
