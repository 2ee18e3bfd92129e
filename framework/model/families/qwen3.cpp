// Qwen3 dense and the language tower of Qwen3-VL: the dense decoder with RMSNorm on each q and k
// head.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_qwen3(ConfigReader& config, ModelSpec& spec) {
  dense::read_sizes(config, spec);
  decoder::read_windows(config, spec, false);
  const bool has_bias = config.flag("attention_bias").value_or(false);
  spec.qk_norm = true;
  spec.qkv_bias = has_bias;
  spec.o_bias = has_bias;
}

}  // namespace

extern const Family qwen3_family = {
    "qwen3", {"qwen3", "qwen3_vl", "qwen3_vl_text"}, &read_qwen3, &dense::build};

}  // namespace halmark
