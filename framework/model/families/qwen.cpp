// The first Qwen: biases on q, k and v alone, and a stated width of the network that is that of
// gate and up together.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_qwen(ConfigReader& config, ModelSpec& spec) {
  if (!config.has("max_position_embeddings")) {
    config.also_named("max_position_embeddings", "seq_length");  // else that of training
  }
  config.also_named("head_dim", "kv_channels");
  config.also_named("partial_rotary_factor", "rotary_pct");
  dense::read_sizes(config, spec);
  if (spec.intermediate % 2 != 0) {
    config.refuse("intermediate_size", "must be even: half of it is the width of the network");
  }
  spec.intermediate /= 2;
  const bool has_bias = !config.flag("no_bias").value_or(true);
  spec.qkv_bias = true;
  spec.o_bias = spec.mlp_bias = has_bias;
  config.ignore({"onnx_safe", "bf16", "fp16", "fp32", "softmax_in_fp32", "use_cache_kernel",
                 "use_cache_quantization"});
}

}  // namespace

extern const Family qwen_family = {"qwen", {"qwen"}, &read_qwen, &dense::build};

}  // namespace halmark
