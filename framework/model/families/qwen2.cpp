// Qwen2 and Qwen2.5: the dense decoder with biases on q, k and v, implied by the model type.
#include <array>

#include "model/families/dense.hpp"

namespace halmark {

namespace {

constexpr std::array<std::string_view, 1> model_types = {"qwen2"};

void read(ConfigReader& config, ModelSpec& spec) {
  dense::read_sizes(config, spec);
  // A stated window is off unless use_sliding_window switches it on.
  decoder::read_windows(config, spec, false);
  spec.qkv_bias = config.flag_or("qkv_bias", true);
}

}  // namespace

extern const Family qwen2_family;
const Family qwen2_family = {"qwen2", model_types, &read, &dense::build};

}  // namespace halmark
