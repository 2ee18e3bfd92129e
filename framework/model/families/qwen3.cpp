// Qwen3 dense and the language tower of Qwen3-VL: the dense decoder with RMSNorm on each q and k
// head.
#include <array>

#include "model/families/dense.hpp"

namespace halmark {

namespace {

constexpr std::array<std::string_view, 3> qwen3_types = {"qwen3", "qwen3_vl", "qwen3_vl_text"};

void read_qwen3(ConfigReader& config, ModelSpec& spec) {
  dense::read_sizes(config, spec);
  decoder::read_windows(config, spec, false);
  const bool has_bias = config.flag("attention_bias").value_or(false);
  spec.qk_norm = true;
  spec.qkv_bias = has_bias;
  spec.o_bias = has_bias;
}

}  // namespace

extern const Family qwen3_family;
const Family qwen3_family = {"qwen3", qwen3_types, &read_qwen3, &dense::build};

}  // namespace halmark
